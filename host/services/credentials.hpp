// Files that hold secrets. They are small, are read again at every use, and are never logged.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

constexpr size_t credential_bytes_max = 1 << 20;

// Calls `use` with the file's bytes. With `sensitive`, the bytes are overwritten afterwards. `path`
// is absolute (Table::path, resolve_path). Errors contain the path: NOT_FOUND, PERMISSION_DENIED,
// FAILED_PRECONDITION (a directory, or larger than credential_bytes_max), INTERNAL for any other
// error of reading. [pool]
Result<> read_credential(const std::string& path, bool sensitive,
                         const std::function<void(std::string_view)>& use);

}  // namespace davit::host
