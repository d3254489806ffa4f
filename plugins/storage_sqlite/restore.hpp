// A copy becomes the database.
#pragma once

#include "copy.hpp"

namespace davit::storage_sqlite {

// `database` and `copy` are absolute. See abi/storage_copy.h: while it is under way there is a file
// DATABASE.restore, which keeps a start out; it becomes the database as the last act.
Result<storage::Restored> restore(const std::string& database, const std::string& copy,
                                  int64_t now_unix_ms);

}  // namespace davit::storage_sqlite
