// UidLock: at most one program works on a cluster. The lock is a file that the program has open,
// and so has all that it starts. When a host was killed, the programs of its calls may live on; the
// lock says so to the next host, as long as one of them runs.
#pragma once

#include <optional>
#include <string>

#include "davit/types.hpp"

namespace davit::actuator_exec {

class UidLock {
 public:
  // UNAVAILABLE, when a program of an earlier call runs. `folder` is there.
  static Result<UidLock> take(const std::string& folder, const std::string& uid);
  ~UidLock() { release(); }
  UidLock(UidLock&& o) noexcept : path_(std::move(o.path_)), fd_(std::exchange(o.fd_, -1)) {}
  UidLock& operator=(UidLock&&) = delete;

  int fd() const { return fd_; }
  // Which process the next call names, if this one's is still there.
  void note(int pid) const;
  // Gives the lock back, as far as this process has it, and removes the file if nobody else has.
  void release();

 private:
  UidLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};

}  // namespace davit::actuator_exec
