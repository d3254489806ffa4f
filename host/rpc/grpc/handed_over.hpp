// HandedOver knows the connections that were handed to gRPC, by gRPC's names for them. The library
// closes a connection without telling, has no function that closes one, and does not say which user
// is at the other end of a Unix socket. So this class looks at the descriptors, shuts sockets down
// itself, and remembers the users. It recognises a descriptor that is used again by the socket's
// inode.
//
// gRPC names a connection on a Unix socket after its descriptor, and the kernel gives the lowest
// number that is free. A call that comes late, when its connection is closed, would then be taken
// for a call of the next user. So each of these connections gets a number of its own: one is used
// again only after all others of a range of thousands.
//
// GrpcServer has one. Any thread.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../acceptor.hpp"

namespace davit::host {

class HandedOver {
 public:
  struct Added {
    int fd = -1;         // for gRPC, which closes it
    std::string before;  // the address of an earlier connection of this name that no sweep has
                         // missed yet; mostly empty
  };
  // Takes the descriptor of a new connection.
  Added add(Descriptor fd, const AcceptedConnection&);
  // The user at the other end of a Unix socket. NULL for TCP, or if there is no such connection.
  IdentityPtr user(const std::string& name) const;
  // Shuts a connection down; gRPC then notices that it is lost. gRPC itself goes on reading from a
  // caller that begins and resets calls as fast as possible.
  void cut(const std::string& name);
  // Forgets the connections that are closed, and returns their addresses.
  std::vector<std::string> sweep();
  // Shuts all connections down.
  void shut_down();

 private:
  struct Connection {
    int fd = -1;
    ino_t inode = 0;
    std::string address;
    IdentityPtr user;

    bool is_open() const;
    void shut_down() const;
  };
  int numbered(Descriptor fd);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Connection> connections_;
  int next_number_ = 0;
};

}  // namespace davit::host
