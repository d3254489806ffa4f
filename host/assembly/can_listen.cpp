#include "can_listen.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>

#include "services/host_and_port.hpp"

namespace davit::host {
namespace {

Error fault(const std::string& text, int number) {
  const Code code = number == EADDRINUSE ? Code::unavailable : Code::failed_precondition;
  return {code, text + ": " + std::strerror(number)};
}

// A socket file that no process listens on is no obstacle: a start replaces it.
Result<> can_listen_on_path(const std::string& address, const std::string& path) {
  sockaddr_un at{};
  if (path.size() < sizeof at.sun_path) {
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool heard =
        fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    if (fd >= 0) ::close(fd);
    if (heard) return fault("cannot listen on " + address, EADDRINUSE);
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  // The service manager creates a missing folder of /run (RuntimeDirectory=) when it starts us.
  if (errno == ENOENT && folder.starts_with("/run/")) return {};
  return fault("cannot listen on " + address + ": its folder", errno);
}

}  // namespace

Result<> can_listen(const std::string& address) {
  if (address.starts_with("unix:")) return can_listen_on_path(address, address.substr(5));
  const auto parts = host_and_port(address);
  if (!parts) return {};  // who has read the setting refuses it
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int unknown = ::getaddrinfo(parts->host.c_str(), parts->service().c_str(), &hints, &found);
  if (unknown != 0)
    return Error{Code::failed_precondition,
                 "cannot listen on " + address + ": " + ::gai_strerror(unknown)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fault("cannot listen on " + address, errno);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const int bound = ::bind(fd, found->ai_addr, found->ai_addrlen);
  const int why = errno;
  ::close(fd);
  if (bound != 0) return fault("cannot listen on " + address, why);
  return {};
}

}  // namespace davit::host
