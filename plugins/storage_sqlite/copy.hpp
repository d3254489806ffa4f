// Copies of a database as one file: made, and verified.
#pragma once

#include "connection.hpp"
#include "davit/storage_copy.hpp"

namespace davit::storage_sqlite {

// The state that the connection's transaction sees, into a new file; see abi/storage_copy.h. A
// failure may also be the connection's.
Result<storage::Copied> copy_to(Connection& source, const std::string& path,
                                const storage::CopyProgress& tell);

// Reads everything: SQLite's own check of the file, then what holds between our tables. DATA_LOSS
// with the first fault.
Result<storage::Copied> verify_all(Connection& connection, const storage::CopyProgress& tell);
// The same of a file that nobody has open.
Result<storage::Copied> verify_file(const std::string& path, const storage::CopyProgress& tell);

// "FILE: text", in the words for a copy.
Error copy_fault(const std::string& path, Code code, const std::string& text);
// Of an errno.
Error copy_fault(const std::string& path, const std::string& what, int number);
// Has the folder of a file written, so that a new name in it survives a power cut.
void sync_folder(const std::string& path);

}  // namespace davit::storage_sqlite
