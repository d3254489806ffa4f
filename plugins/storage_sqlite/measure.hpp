// What can be said of an open database in numbers, for its metrics.
#pragma once

#include <cstdint>
#include <optional>

#include "connection.hpp"

namespace davit::storage_sqlite {

// Nothing: it is not known.
struct Measured {
  std::optional<uint64_t> file_bytes, journal_bytes;
  std::optional<uint64_t> free_bytes;  // of its file system, for this process
  std::optional<uint64_t> records, tombstones, statuses;
  std::optional<int64_t> moved_at_unix_ms;  // the whole journal into the file, in this process
};

// In a transaction. Each number is answered from an index: a second for some ten million.
void count_rows(Connection& connection, Measured& out);
// The files are looked at by name: closing a descriptor of them would drop SQLite's own locks.
void look_at_files(const std::string& database, Measured& out);

}  // namespace davit::storage_sqlite
