// Measures an open database for its metrics.
#pragma once

#include <cstdint>
#include <optional>

#include "connection.hpp"

namespace davit::storage_sqlite {

// An empty value is unknown.
struct Measured {
  std::optional<uint64_t> file_bytes, journal_bytes;
  std::optional<uint64_t> free_bytes;  // of its file system, for this process
  std::optional<uint64_t> records, tombstones, statuses;
  // When this process last moved the whole journal into the file.
  std::optional<int64_t> moved_at_unix_ms;
};

// Call it in a transaction. Each number comes from an index: a second for about ten million rows.
void count_rows(Connection& connection, Measured& out);
// Uses the files' names: closing a descriptor of them would drop SQLite's own locks.
void look_at_files(const std::string& database, Measured& out);

}  // namespace davit::storage_sqlite
