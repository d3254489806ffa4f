// The sockets of one address, TCP or Unix, and the thread that accepts on them, whatever the
// transport: gRPC's own listener would not tell who is at the other end of a Unix socket, knows no
// limit, and never accepts again once descriptors have run out.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <davit/types.hpp>

#include "descriptor.hpp"

namespace davit::host {

class Listener {
 public:
  // Connected and non-blocking. On the listener's thread.
  using Accepted = std::function<void(Descriptor)>;
  // No descriptor is left for a connection that waits; every 100 ms while that is so. On the
  // listener's thread.
  using Starved = std::function<void()>;

  Listener() = default;
  ~Listener() { stop(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // "host:port", every address of the host; port 0: any, one for all of them. The address with its
  // real port. The error says what is wrong, without the address.
  Result<std::string> bind_tcp(const std::string& address);
  // Removes a socket that nobody serves any more. Owned by `group` unless (gid_t)-1. The error says
  // what is wrong, without the path.
  Result<> bind_unix(const std::string& path, mode_t mode, gid_t group);
  // Begins to accept, once bound.
  Result<> start(Accepted, Starved);
  // Ends the thread and removes a Unix socket. Idempotent.
  void stop();

 private:
  void run();
  void accept_from(int listening);

  std::vector<Descriptor> sockets_;
  Descriptor wake_;
  Accepted accepted_;
  Starved starved_;
  std::string path_;  // of a Unix socket that is ours
  ino_t inode_ = 0;
  std::thread thread_;
};

}  // namespace davit::host
