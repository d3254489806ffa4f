// Tells whether a file has changed, without reading it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace davit::cluster_kubernetes {

struct FileStamp {
  int64_t seconds = 0, nanoseconds = 0, size = -1;  // of a file that is not there: as here
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};

inline FileStamp stamp_of(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {};
  return {s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_size, s.st_ino};
}

}  // namespace davit::cluster_kubernetes
