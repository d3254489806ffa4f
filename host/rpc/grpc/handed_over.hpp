// Connections that were handed to gRPC, which closes them and does not say so: their descriptors
// are looked at. A number that is used again for something else is another connection's, or none's.
// Any thread.
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
  // Before gRPC has it. The address of the connection that had this number before, when that was
  // not missed yet; empty: none.
  std::string add(int fd, std::string address);
  // Forgets those that are closed. Their addresses.
  std::vector<std::string> sweep();
  // Ends them all; gRPC finds out by itself.
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
