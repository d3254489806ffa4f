#include "unix_listener.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "bind_error.hpp"

namespace davit::host {

namespace {

constexpr int backlog = 128;
constexpr int out_of_descriptors_pause_ms = 100;

Error system_error(const std::string& what) {
  return {Code::unavailable, (what.empty() ? what : what + ": ") + system_words(errno), {}, {}};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

// A socket that refuses connections belongs to a process that is gone.
Result<> remove_stale(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return {};
  if (!S_ISSOCK(st.st_mode))
    return Error{Code::unavailable, "there is a file that is not a socket", {}, {}};
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_un address = address_of(path);
  const int connected = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int why = errno;
  close(probe);
  if (connected == 0 || why == EAGAIN)
    return Error{Code::unavailable, "address already in use", {}, {}};
  if (why == ECONNREFUSED && unlink(path.c_str()) != 0)
    return system_error("cannot remove the stale socket");
  return {};
}

}  // namespace

Result<> UnixListener::listen(const std::string& path, gid_t group, Accepted accepted) {
  if (auto r = remove_stale(path); !r.ok()) return r;
  path_ = path;
  accepted_ = std::move(accepted);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (socket_ < 0 || wake_ < 0) return system_error({});
  const sockaddr_un address = address_of(path);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error({});
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0) inode_ = st.st_ino;
  // Nobody can connect before `listen`, so the mode is in place in time.
  if (chmod(path.c_str(), 0660) != 0) return system_error("chmod");
  if (group != static_cast<gid_t>(-1) && chown(path.c_str(), static_cast<uid_t>(-1), group) != 0) {
    return system_error("cannot give the socket to the group of allow_group");
  }
  if (::listen(socket_, backlog) != 0) return system_error({});
  thread_ = std::thread([this] { run(); });
  return {};
}

void UnixListener::run() {
  pthread_setname_np(pthread_self(), "rpc-accept");
  while (true) {
    pollfd watched[] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      accepted_(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      poll(&watched[1], 1, out_of_descriptors_pause_ms);  // the connection waits; so do we
    }
  }
}

void UnixListener::stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
    thread_.join();
  }
  if (inode_ != 0) {
    struct stat st {};
    if (lstat(path_.c_str(), &st) == 0 && st.st_ino == inode_) unlink(path_.c_str());
    inode_ = 0;
  }
  for (int* fd : {&socket_, &wake_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

}  // namespace davit::host
