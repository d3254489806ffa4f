#include "handed_over.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <utility>

namespace davit::host {

namespace {

// The inode of a socket, which no other socket has while it is open. 0 if `fd` is not an open
// socket. Asks by path: gRPC owns the descriptor and may close it, and then another thread may get
// its number.
ino_t inode_of(int fd) {
  struct stat st {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return stat(path.c_str(), &st) == 0 && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

}  // namespace

std::string HandedOver::add(int fd, std::string address) {
  const std::lock_guard lock(mutex_);
  Connection& at = connections_[fd];
  at.inode = inode_of(fd);
  return std::exchange(at.address, std::move(address));
}

std::vector<std::string> HandedOver::sweep() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> gone;
  std::erase_if(connections_, [&](auto& entry) {
    if (inode_of(entry.first) == entry.second.inode) return false;
    gone.push_back(std::move(entry.second.address));
    return true;
  });
  return gone;
}

void HandedOver::shut_down() {
  const std::lock_guard lock(mutex_);
  for (const auto& [fd, connection] : connections_) {
    if (inode_of(fd) == connection.inode) shutdown(fd, SHUT_RDWR);
  }
}

}  // namespace davit::host
