// Makes and verifies copies of a database, each as one file. The commands `davit storage backup`
// and `davit storage verify` end here.
#pragma once

#include "connection.hpp"
#include "davit/storage_copy.hpp"

namespace davit::storage_sqlite {

// Copies the state that the connection's transaction sees into a new file; see abi/storage_copy.h.
// The error may also be the connection's failure.
Result<storage::Copied> copy_to(Connection& source, const std::string& path,
                                const storage::CopyProgress& tell);

// Reads the whole database: runs SQLite's check of the file, then checks the rules between our
// tables. DATA_LOSS: the first fault.
Result<storage::Copied> verify_all(Connection& connection, const storage::CopyProgress& tell);
// Verifies a file that no process has open.
Result<storage::Copied> verify_file(const std::string& path, const storage::CopyProgress& tell);

// Builds an error "FILE: text" for a copy.
Error copy_fault(const std::string& path, Code code, const std::string& text);
// Builds an error from an errno.
Error copy_fault(const std::string& path, const std::string& what, int number);
// Flushes the folder of a file, so that a new name in it survives a power cut.
void sync_folder(const std::string& path);

}  // namespace davit::storage_sqlite
