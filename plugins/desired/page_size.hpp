// Page sizes and errors that all reads through the whole store share.
#pragma once

#include <cstdint>

#include <davit/storage.hpp>

namespace davit::desired {

inline constexpr uint32_t records_per_page = 1000;
inline constexpr uint64_t bytes_per_page = 4 << 20;
// Records of one look-up with their payloads: they are in memory at once, however large they are.
inline constexpr size_t payloads_per_look_up = 100;

// The value of davit_read::dead_after for each page of a read through the whole store: the purge
// mark. Such a read leaves out no tombstone, and goes on when the mark has passed its cursor.
inline Result<Version> leave_out_none(const storage::Client& storage) {
  auto head = storage.head();
  if (!head.ok()) return head.error();
  return head->purged_through;
}

// The errors of a read that ends early: nobody waits for it, or the storage does not advance.
Error given_up();
Error stands_still();

}  // namespace davit::desired
