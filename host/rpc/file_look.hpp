// FileLook tells whether a small file has changed without reading it: by its times, inode and size.
// Tokens and certificates are read again when their look differs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace davit::host {

struct FileLook {
  int64_t modified_ns = 0, changed_ns = 0;
  uint64_t inode = 0, size = 0;
  bool operator==(const FileLook&) const = default;

  // Nothing if the file does not exist (ENOENT). An empty look if stat fails for another reason.
  static std::optional<FileLook> of(const std::string& path);
  // False for two seconds after a change: another change in that time could leave the same look.
  bool settled() const;
};

}  // namespace davit::host
