// Files and folders that others may replace, make larger or take away at any time. Nothing here
// waits for a pipe, reads more than a limit, or leaves a descriptor open.
#pragma once

#include <sys/stat.h>

#include "locked_bytes.hpp"

#include "davit/types.hpp"

namespace davit::secrets_file {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Descriptor();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A folder, to open files below it. UNAVAILABLE when it is not there: it may not be mounted yet.
Result<Descriptor> open_folder(const std::string& path);

// Reads the file at `path`, which is relative to `folder` (AT_FDCWD: to the working directory), and
// holds private keys. Like ssh, it refuses a file that others may read or change, with
// PERMISSION_DENIED. NOT_FOUND: there is none. With `pipes`, it may also be a pipe. Errors do not
// name the file.
Result<LockedBytes> read_private_file(int folder, const std::string& path, size_t bytes_max,
                                      bool pipes = false);

// What is wrong with a file's owner and mode, when it holds private keys. Empty: nothing.
std::string mode_fault(const struct stat& status, uid_t self);

// Reads to the end into `into`, at most `bytes_max` bytes. False: there is more. An error has the
// code of errno.
Result<bool> read_to_end(int fd, size_t bytes_max, std::string& into);
Result<bool> read_to_end(int fd, size_t bytes_max, LockedBytes& into);

// What errno says of a file: NOT_FOUND, PERMISSION_DENIED, or UNAVAILABLE.
Error file_fault(int number);

}  // namespace davit::secrets_file
