// Whether a small file has changed, without reading it: by its times, its inode and its size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace davit::host {

struct FileLook {
  int64_t modified_ns = 0, changed_ns = 0;
  uint64_t inode = 0, size = 0;
  bool operator==(const FileLook&) const = default;

  // Nothing when there is no such file (ENOENT); an empty look when it cannot be seen for another
  // reason.
  static std::optional<FileLook> of(const std::string& path);
  // False for so short a time after a change that another one could hide behind the same look.
  bool settled() const;
};

}  // namespace davit::host
