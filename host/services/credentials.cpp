#include "credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace davit::host {
namespace {

Error fault(const std::string& path, int number) {
  Code code = Code::internal;
  if (number == ENOENT || number == ENOTDIR) code = Code::not_found;
  if (number == EACCES || number == EPERM) code = Code::permission_denied;
  return {code, path + ": " + std::strerror(number), path};
}

// Reads until the file ends or the buffer is full. The buffer never grows by itself: that would
// leave copies of the secret in memory.
Result<> read_until_full(int fd, const std::string& path, std::vector<char>& bytes, size_t& size) {
  while (size < bytes.size()) {
    const ssize_t n = ::read(fd, bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fault(path, errno);
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  return {};
}

// Moves what was read into a buffer for the largest credential.
void enlarge(std::vector<char>& bytes, size_t size) {
  std::vector<char> larger(credential_bytes_max + 1);
  std::memcpy(larger.data(), bytes.data(), size);
  ::explicit_bzero(bytes.data(), bytes.size());
  bytes.swap(larger);
}

}  // namespace

Result<> read_credential(const std::string& path, bool sensitive,
                         const std::function<void(std::string_view)>& use) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fault(path, errno);
  struct stat status {};
  if (::fstat(fd, &status) != 0 || S_ISDIR(status.st_mode)) {
    ::close(fd);
    return Error{Code::failed_precondition, path + ": is not a file", path};
  }
  // The size of a pipe (/dev/fd/3) is unknown.
  const bool sized = S_ISREG(status.st_mode) && status.st_size > 0 &&
                     static_cast<size_t>(status.st_size) <= credential_bytes_max;
  std::vector<char> bytes((sized ? static_cast<size_t>(status.st_size) : credential_bytes_max) + 1);
  size_t size = 0;
  Result<> read = read_until_full(fd, path, bytes, size);
  if (read.ok() && size == bytes.size() && size <= credential_bytes_max) {
    enlarge(bytes, size);  // the file has grown since it was looked at
    read = read_until_full(fd, path, bytes, size);
  }
  ::close(fd);
  if (read.ok() && size > credential_bytes_max)
    read = Error{Code::failed_precondition, path + ": is larger than 1 MiB", path};
  if (read.ok()) use({bytes.data(), size});
  if (sensitive) ::explicit_bzero(bytes.data(), bytes.size());
  return read;
}

}  // namespace davit::host
