// The folder with sealed files, which items to read name by their path below it. The kernel
// resolves each path (openat2, Linux 5.6), so no path leaves the folder, whatever "..", symbolic
// links, or renames at the wrong moment would make of it.
#pragma once

#include "davit/types.hpp"

namespace davit::secrets_file {

class SealedDirectory {
 public:
  SealedDirectory(std::string path, size_t bytes_max)
      : path_(std::move(path)), bytes_max_(bytes_max) {}

  bool is_set() const { return !path_.empty(); }
  // The content of a file. INVALID_ARGUMENT: the ref can be no file's. NOT_FOUND: there is none.
  // PERMISSION_DENIED: it may not be read, or its path leaves the folder. UNAVAILABLE: the folder
  // is not there, or the file cannot be read. Errors do not name the ref. [pool]
  Result<std::string> read(const std::string& ref) const;
  // Says whether the folder can be used. [pool]
  Result<> check() const;

 private:
  std::string path_;
  size_t bytes_max_;
};

}  // namespace davit::secrets_file
