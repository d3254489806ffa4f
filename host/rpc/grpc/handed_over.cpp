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

// gRPC names a TCP connection after its peer, as the host does, and any other that it is handed
// after the descriptor.
std::string name_of(int fd, const AcceptedConnection& incoming) {
  return incoming.user ? "fd:" + std::to_string(fd) : incoming.connection;
}

}  // namespace

bool HandedOver::Connection::is_open() const {
  return inode_of(fd) == inode;
}

void HandedOver::Connection::shut_down() const {
  if (is_open()) shutdown(fd, SHUT_RDWR);
}

std::string HandedOver::add(int fd, const AcceptedConnection& incoming) {
  const std::lock_guard lock(mutex_);
  Connection& at = connections_[name_of(fd, incoming)];
  std::string before = std::move(at.address);
  at = {fd, inode_of(fd), incoming.address, incoming.user};
  return before;
}

IdentityPtr HandedOver::user(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(name);
  return found == connections_.end() ? nullptr : found->second.user;
}

void HandedOver::cut(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(name);
  if (found != connections_.end()) found->second.shut_down();
}

std::vector<std::string> HandedOver::sweep() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> gone;
  std::erase_if(connections_, [&](auto& entry) {
    if (entry.second.is_open()) return false;
    gone.push_back(std::move(entry.second.address));
    return true;
  });
  return gone;
}

void HandedOver::shut_down() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, connection] : connections_) connection.shut_down();
}

}  // namespace davit::host
