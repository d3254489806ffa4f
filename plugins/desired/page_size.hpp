// How much of the store is read at once where all of it is gone through.
#pragma once

#include <cstdint>

#include <davit/storage.hpp>

namespace davit::desired {

inline constexpr uint32_t records_per_page = 1000;
inline constexpr uint64_t bytes_per_page = 4 << 20;

// For davit_read::dead_after, anew for each page: a reading of the whole store that leaves out no
// tombstone and does not end where the purge mark has passed its cursor.
inline Result<uint64_t> leave_out_none(const storage::Client& storage) {
  auto head = storage.head();
  if (!head.ok()) return head.error();
  return head->purged_through;
}

// Why a reading of many pages ends before them: nobody wants it, or it would not end.
Error given_up();
Error stands_still();

}  // namespace davit::desired
