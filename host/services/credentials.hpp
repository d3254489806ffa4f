// Files that hold secrets: read anew at every use, small, wiped afterwards, never logged.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

constexpr size_t credential_bytes_max = 1 << 20;

// Shows the file's bytes to `use`; with `sensitive` they are overwritten after it. `path` is
// absolute (Table::path, resolve_path). NOT_FOUND, PERMISSION_DENIED, or FAILED_PRECONDITION (a
// directory, too large), with the path. [pool]
Result<> read_credential(const std::string& path, bool sensitive,
                         const std::function<void(std::string_view)>& use);

}  // namespace davit::host
