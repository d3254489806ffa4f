// Listener owns the sockets of one address, TCP or Unix, and the thread that accepts connections on
// them. Both transports use it in place of gRPC's listener. That one does not tell the user of a
// Unix socket, has no limit, and never accepts again once descriptors have run out.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <davit/types.hpp>

#include "descriptor.hpp"

namespace davit::host {

class Listener {
 public:
  // Gets a connected, non-blocking socket. On the listener's thread.
  using Accepted = std::function<void(Descriptor)>;
  // Called every 100 ms while the system lets no connection be accepted, with the errno: no
  // descriptor is left, for example. On the listener's thread.
  using Starved = std::function<void(int error)>;

  Listener() = default;
  ~Listener() { stop(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Binds to every address of the host in "host:port". With port 0 the system picks one port for
  // all of them. Returns the address with its real port. Errors do not contain the address.
  Result<std::string> bind_tcp(const std::string& address);
  // Binds to a Unix socket. Replaces a socket that no process serves. The socket gets `group`,
  // unless that is (gid_t)-1. Errors do not contain the path.
  Result<> bind_unix(const std::string& path, mode_t mode, gid_t group);
  // Accepts on these sockets instead. They listen already, and belong to a service manager: a Unix
  // socket stays when this listener stops.
  void take_over(const std::vector<int>& listening);
  // Gives a Unix socket that exists the mode, and the group unless that is (gid_t)-1.
  static Result<> give_access(const std::string& path, mode_t mode, gid_t group);
  // Begins to accept. Bind or take over first.
  Result<> start(Accepted, Starved);
  // Ends the thread and removes a Unix socket. Idempotent.
  void stop();

 private:
  void run();
  void accept_from(int listening);
  // Reports the failure, and waits before the next attempt.
  void pause(int error);

  std::vector<Descriptor> sockets_;
  Descriptor wake_;
  Accepted accepted_;
  Starved starved_;
  std::string path_;  // of the Unix socket that this listener made
  ino_t inode_ = 0;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace davit::host
