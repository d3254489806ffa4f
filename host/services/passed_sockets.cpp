#include "passed_sockets.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "host_and_port.hpp"

namespace davit::host {
namespace {

constexpr int first_passed = 3;  // SD_LISTEN_FDS_START
constexpr std::string_view unix_scheme = "unix:";

// 0: not set, or no number.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int out = 0;
  if (text == nullptr) return 0;
  const std::string_view all(text);
  const auto read = std::from_chars(all.data(), all.data() + all.size(), out);
  return read.ec == std::errc() && read.ptr == all.data() + all.size() ? out : 0;
}

std::vector<std::string> names_in(const char* variable) {
  std::vector<std::string> out;
  const char* text = std::getenv(variable);
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    out.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return out;
}

int option(int fd, int which) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, which, &value, &size) == 0 ? value : -1;
}

// "0.0.0.0:7070". Every interface has one spelling here: a socket of systemd's may be that of IPv6,
// which takes callers of both.
std::string tcp_text(const sockaddr* address, socklen_t size, bool any_is_one) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  constexpr int numbers = NI_NUMERICHOST | NI_NUMERICSERV;
  if (::getnameinfo(address, size, host, sizeof host, port, sizeof port, numbers) != 0) return {};
  std::string name = host;
  if (any_is_one && name == "::") name = "0.0.0.0";
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  return name + ":" + port;
}

std::string address_text(int fd, bool any_is_one) {
  if (option(fd, SO_TYPE) != SOCK_STREAM || option(fd, SO_ACCEPTCONN) != 1) return {};
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (::getsockname(fd, address, &size) != 0) return {};
  if (at.ss_family == AF_INET || at.ss_family == AF_INET6)
    return tcp_text(address, size, any_is_one);
  const auto* const local = reinterpret_cast<const sockaddr_un*>(&at);
  if (at.ss_family != AF_UNIX || size <= offsetof(sockaddr_un, sun_path)) return {};
  return local->sun_path[0] == '/' ? "unix:" + std::string(local->sun_path) : "";
}

// In the form of address_text. A name may stand for several addresses.
std::vector<std::string> resolved(std::string_view address) {
  if (address.starts_with(unix_scheme)) return {std::string(address)};
  const auto parts = host_and_port(address);
  if (!parts) return {};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(parts->host.c_str(), parts->service().c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, &::freeaddrinfo);
  std::vector<std::string> out;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next)
    out.push_back(tcp_text(a->ai_addr, a->ai_addrlen, true));
  return out;
}

}  // namespace

std::string address_of_listening(int fd) {
  return address_text(fd, false);
}

PassedSockets PassedSockets::from_environment() {
  PassedSockets out;
  const bool ours = number_in("LISTEN_PID") == static_cast<int>(::getpid());
  const int count = ours ? number_in("LISTEN_FDS") : 0;
  const std::vector<std::string> names = names_in("LISTEN_FDNAMES");
  for (int i = 0; i < count; ++i) {
    const int fd = first_passed + i;
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) break;
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    const auto at = static_cast<size_t>(i);
    out.passed_.push_back({fd, at < names.size() ? names[at] : "", address_of_listening(fd)});
  }
  for (const char* variable : {"LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"})
    ::unsetenv(variable);
  return out;
}

Result<std::vector<int>> PassedSockets::take(std::string_view key, std::string_view address) {
  std::vector<int> out;
  const bool local = address.starts_with(unix_scheme);
  const auto move_if = [&](const auto& wanted) {
    std::erase_if(passed_, [&](const Passed& p) {
      if (!wanted(p)) return false;
      out.push_back(p.fd);
      return true;
    });
  };
  for (const Passed& p : passed_) {
    if (p.name != key || (!p.address.empty() && p.address.starts_with(unix_scheme) == local))
      continue;
    return Error{Code::failed_precondition,
                 "the socket that the service manager passes with this name " +
                     (p.address.empty() ? "does not listen" : "is " + p.address) +
                     ": correct ListenStream= of its unit"};
  }
  move_if([&](const Passed& p) { return p.name == key; });
  if (!out.empty() || passed_.empty()) return out;
  const std::vector<std::string> wanted = resolved(address);
  move_if([&](const Passed& p) {
    return !p.address.empty() &&
           std::ranges::find(wanted, address_text(p.fd, true)) != wanted.end();
  });
  return out;
}

std::vector<std::string> PassedSockets::close() {
  std::vector<std::string> out;
  for (const Passed& p : std::exchange(passed_, {})) {
    ::close(p.fd);
    out.push_back((p.address.empty() ? "a descriptor on which nobody can call" : p.address) +
                  (p.name.empty() ? "" : " (" + p.name + ")"));
  }
  return out;
}

}  // namespace davit::host
