// HandedOver tracks the connections that were handed to gRPC. gRPC closes them without telling, so
// this class looks at their descriptors. It recognises a number that is used again by the socket's
// inode. GrpcServer uses it to keep Door's count. Any thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace davit::host {

class HandedOver {
 public:
  // Adds a connection; call it before gRPC gets `fd`. If an earlier connection had this number and
  // no sweep has missed it yet, returns its address; otherwise nothing.
  std::string add(int fd, std::string address);
  // Forgets the connections that are closed, and returns their addresses.
  std::vector<std::string> sweep();
  // Shuts all connections down; gRPC then notices that they are lost.
  void shut_down();

 private:
  struct Connection {
    ino_t inode = 0;
    std::string address;
  };
  std::mutex mutex_;
  std::unordered_map<int, Connection> connections_;
};

}  // namespace davit::host
