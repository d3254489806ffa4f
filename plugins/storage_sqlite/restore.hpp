// Makes a copy the database, for `davit storage restore`.
#pragma once

#include "copy.hpp"

namespace davit::storage_sqlite {

// `database` and `copy` are absolute paths. See abi/storage_copy.h. During the restore a file
// DATABASE.restore exists, which prevents a start. The last step renames it to DATABASE.
Result<storage::Restored> restore(const std::string& database, const std::string& copy,
                                  int64_t now_unix_ms);

}  // namespace davit::storage_sqlite
