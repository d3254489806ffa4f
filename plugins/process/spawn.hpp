// Starts a program as the child of this process. process.cpp watches over it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include "process.hpp"

namespace davit::process {

// Owns a file descriptor.
class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Takes the number of a file out of the way of 0 to 4, which the program's own files get, and
// closes `fd`. -1 and errno: it failed.
int moved_up(int fd);

struct Spawned {
  pid_t pid = -1;
  int error = 0;              // an errno; 0: it runs
  bool in_directory = false;  // the error is that of its working directory
};

// stdout and stderr are pipes.
Spawned spawn(const Command& command, int output, int errors);

}  // namespace davit::process
