#include "listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "services/host_and_port.hpp"
#include "system_words.hpp"

namespace davit::host {

namespace {

constexpr int pause_ms = 100;

Error system_error(const std::string& what = {}) {
  return {Code::unavailable, (what.empty() ? what : what + ": ") + system_words(errno)};
}

sockaddr_un address_of_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

// Removes a socket that refuses connections: its process has ended.
Result<> remove_stale(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return {};
  if (!S_ISSOCK(st.st_mode))
    return Error{Code::unavailable, "there is a file that is not a socket"};
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of_path(path);
  const int connected =
      connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int why = errno;
  if (connected == 0 || why == EAGAIN) return Error{Code::unavailable, "address already in use"};
  if (why == ECONNREFUSED && unlink(path.c_str()) != 0)
    return system_error("cannot remove the stale socket");
  return {};
}

void set_port(sockaddr* address, in_port_t port) {
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = port;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = port;
  }
}

in_port_t port_of(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  return at.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(at).sin6_port
                                  : reinterpret_cast<const sockaddr_in&>(at).sin_port;
}

// On failure returns no descriptor and sets errno.
Descriptor listening_on(const addrinfo& a) {
  Descriptor fd(socket(a.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {};
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // With SO_REUSEADDR two processes can bind one port, but only one can listen.
  if (bind(fd.get(), a.ai_addr, a.ai_addrlen) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
  const int why = errno;
  fd.reset();
  errno = why;
  return {};
}

bool is_out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

}  // namespace

Result<std::string> Listener::bind_tcp(const std::string& address) {
  const auto parts = host_and_port(address);
  if (!parts) return Error{Code::invalid_argument, "not an address with a port"};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(parts->host.c_str(), parts->service().c_str(), &hints, &found);
  if (failed != 0) return Error{Code::unavailable, gai_strerror(failed)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &freeaddrinfo);
  in_port_t port = 0;
  std::vector<Descriptor> bound;
  int why = EADDRNOTAVAIL;
  for (addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (port != 0) set_port(a->ai_addr, port);
    Descriptor fd = listening_on(*a);
    if (!fd) {
      why = errno;
      // A name may also have an address of a family that this machine does not use.
      if (why == EAFNOSUPPORT || why == EADDRNOTAVAIL) continue;
      return system_error();
    }
    port = port_of(fd.get());
    bound.push_back(std::move(fd));
  }
  if (bound.empty()) return Error{Code::unavailable, system_words(why)};
  sockets_ = std::move(bound);
  return address.substr(0, address.rfind(':') + 1) + std::to_string(ntohs(port));
}

Result<> Listener::bind_unix(const std::string& path, mode_t mode, gid_t group) {
  if (auto r = remove_stale(path); !r.ok()) return r;
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error();
  const sockaddr_un address = address_of_path(path);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_error();
  path_ = path;
  struct stat st {};
  if (lstat(path.c_str(), &st) == 0) inode_ = st.st_ino;
  // Set owner and mode before `listen`: nobody can connect earlier.
  if (auto r = give_access(path, mode, group); !r.ok()) return r;
  if (listen(fd.get(), SOMAXCONN) != 0) return system_error();
  sockets_.push_back(std::move(fd));
  return {};
}

Result<> Listener::give_access(const std::string& path, mode_t mode, gid_t group) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return system_error();
  const bool given = group == static_cast<gid_t>(-1) || group == st.st_gid;
  if (!given && chown(path.c_str(), static_cast<uid_t>(-1), group) != 0)
    return system_error("cannot give the socket to the group of allow_group");
  if ((st.st_mode & ALLPERMS) != mode && chmod(path.c_str(), mode) != 0)
    return system_error("cannot set the mode of the socket");
  return {};
}

void Listener::take_over(const std::vector<int>& listening) {
  for (const int fd : listening) sockets_.emplace_back(fd);
}

Result<> Listener::start(Accepted accepted, Starved starved) {
  accepted_ = std::move(accepted);
  starved_ = std::move(starved);
  wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_error();
  stopped_ = false;
  thread_ = std::thread([this] { run(); });
  return {};
}

void Listener::run() {
  pthread_setname_np(pthread_self(), "rpc-accept");
  std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}};
  for (const auto& socket : sockets_) watched.push_back({socket.get(), POLLIN, 0});
  while (!stopped_.load(std::memory_order_acquire)) {
    if (poll(watched.data(), watched.size(), -1) < 0) {
      if (errno != EINTR) pause(errno);
      continue;
    }
    if (watched[0].revents != 0) return;
    for (size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0) accept_from(watched[i].fd);
    }
  }
}

void Listener::accept_from(int listening) {
  Descriptor fd(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd) return accepted_(std::move(fd));
  if (!is_out_of_descriptors(errno)) return;  // the peer has already gone
  // The connection stays in the backlog.
  pause(errno);
}

void Listener::pause(int error) {
  starved_(error);
  pollfd woken = {wake_.get(), POLLIN, 0};
  if (poll(&woken, 1, pause_ms) < 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
}

void Listener::stop() {
  if (thread_.joinable()) {
    stopped_.store(true, std::memory_order_release);
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  if (const ino_t ours = std::exchange(inode_, 0); ours != 0) {
    struct stat st {};
    if (lstat(path_.c_str(), &st) == 0 && st.st_ino == ours) unlink(path_.c_str());
  }
  sockets_.clear();
  wake_.reset();
}

}  // namespace davit::host
