#include "streams.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace davit::secrets_file {

Result<LockedBytes> read_input(size_t bytes_max, const char* typed) {
  if (::isatty(STDIN_FILENO) == 1)
    std::fprintf(stderr, "type %s, and end with Ctrl-D on a line of its own\n", typed);
  LockedBytes out;
  const auto all = read_to_end(STDIN_FILENO, bytes_max, out);
  if (!all.ok()) return Error{Code::internal, all.error().message}.in("standard input");
  if (!*all)
    return Error{Code::invalid_argument,
                 "standard input has more than " + std::to_string(bytes_max) + " bytes"};
  return out;
}

Result<> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return Error{Code::internal, "it cannot be written: " + std::string(std::strerror(errno))};
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

void note(const std::string& command, const std::string& text) {
  std::string line = "davit-seal " + command + ": " + text;
  for (char& c : line) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = ' ';
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace davit::secrets_file
