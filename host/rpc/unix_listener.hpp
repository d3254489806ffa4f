// A Unix socket and the thread that accepts on it: gRPC's own listener would not tell who is at the
// other end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>

#include <davit/types.hpp>

namespace davit::host {

class UnixListener {
 public:
  using Accepted =
      std::function<void(int fd)>;  // owns fd: connected and non-blocking; on the listener's thread

  UnixListener() = default;
  ~UnixListener() { stop(); }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  // Removes a socket that nobody serves any more; mode 0660, owned by `group` unless (gid_t)-1. The
  // error says what is wrong, without the path.
  Result<> listen(const std::string& path, gid_t group, Accepted);
  // Ends the thread and removes the socket. Idempotent.
  void stop();

 private:
  void run();

  std::string path_;
  Accepted accepted_;
  int socket_ = -1, wake_ = -1;
  ino_t inode_ = 0;
  std::thread thread_;
};

}  // namespace davit::host
