#include "cut.hpp"

#include <dirent.h>
#include <sys/socket.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "peer_address.hpp"

namespace davit::host {

namespace {

// -1 if the text does not begin with a number.
int number(std::string_view text) {
  int out = -1;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

bool cut(const std::string& peer) {
  constexpr std::string_view by_descriptor = "fd:";
  if (peer.starts_with(by_descriptor))
    return shutdown(number(peer.substr(by_descriptor.size())), SHUT_RDWR) == 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), &closedir);
  if (!all) return false;
  while (const dirent* entry = readdir(all.get())) {
    const int fd = number(entry->d_name);
    if (fd >= 0 && peer_name(fd) == peer) return shutdown(fd, SHUT_RDWR) == 0;
  }
  return false;
}

}  // namespace davit::host
