#include "read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace davit::host {

namespace {

Error cannot_be_read(const std::string& name, int number) {
  return {Code::invalid_argument, name + ": cannot be read: " + std::strerror(number)};
}

Result<std::string> read_to_end(int fd, const std::string& name) {
  std::string out;
  std::vector<char> piece(64 << 10);
  for (;;) {
    const ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_be_read(name, errno);
    if (n == 0) return out;
    out.append(piece.data(), static_cast<size_t>(n));
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_be_read(path, errno);
  Result<std::string> out = read_to_end(fd, path);
  ::close(fd);
  return out;
}

Result<std::string> read_standard_input() {
  return read_to_end(STDIN_FILENO, "<stdin>");
}

}  // namespace davit::host
