#include "files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace davit::secrets_file {
namespace {

constexpr size_t first_read_bytes = 16 << 10;

Result<size_t> read_some(int fd, void* into, size_t size) {
  for (;;) {
    const ssize_t n = ::read(fd, into, size);
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return file_fault(errno);
  }
}

LockedBytes enlarged(const LockedBytes& from, size_t used, size_t size) {
  LockedBytes out(size);
  if (used > 0) std::memcpy(out.data(), from.data(), used);
  return out;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Error file_fault(int number) {
  Code code = Code::unavailable;
  if (number == ENOENT || number == ENOTDIR || number == ENAMETOOLONG) code = Code::not_found;
  if (number == EACCES || number == EPERM) code = Code::permission_denied;
  return {code, std::strerror(number)};
}

Result<Descriptor> open_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (folder) return folder;
  Error error = file_fault(errno);
  if (error.code == Code::not_found) error.code = Code::unavailable;
  return error.in(path);
}

std::string mode_fault(const struct stat& status, uid_t self) {
  // A file of another user's is read by a group that it was given to, as are the Secrets that
  // Kubernetes mounts and the credentials of systemd.
  const mode_t forbidden = status.st_uid == self ? 077 : 027;
  if ((status.st_mode & forbidden) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777));
  return "its mode " + std::string(mode.data()) + " lets others read or change it: chmod " +
         (status.st_uid == self ? "600" : "640");
}

Result<bool> read_to_end(int fd, size_t bytes_max, std::string& into) {
  into.clear();
  for (size_t used = 0;;) {
    into.resize(std::min(std::max(2 * used, first_read_bytes), bytes_max + 1));
    const auto n = read_some(fd, into.data() + used, into.size() - used);
    if (!n.ok()) return n.error();
    used += *n;
    if (*n == 0 || used > bytes_max) {
      into.resize(used);
      return used <= bytes_max;
    }
  }
}

Result<bool> read_to_end(int fd, size_t bytes_max, LockedBytes& into) {
  into = LockedBytes(std::min(first_read_bytes, bytes_max + 1));
  for (size_t used = 0;;) {
    if (used == into.size()) into = enlarged(into, used, std::min(2 * used, bytes_max + 1));
    const auto n = read_some(fd, into.data() + used, into.size() - used);
    if (!n.ok()) return n.error();
    used += *n;
    if (*n == 0 || used > bytes_max) {
      into.shorten(used);
      return used <= bytes_max;
    }
  }
}

Result<LockedBytes> read_private_file(int folder, const std::string& path, size_t bytes_max,
                                      bool pipes) {
  const Descriptor file(
      ::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK)));
  if (!file) return file_fault(errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file_fault(errno);
  if (!S_ISREG(status.st_mode) && !(pipes && S_ISFIFO(status.st_mode)))
    return Error{Code::unavailable, "is no file"};
  if (const std::string fault = mode_fault(status, ::geteuid()); !fault.empty())
    return Error{Code::permission_denied, fault};
  LockedBytes out;
  const auto all = read_to_end(file.get(), bytes_max, out);
  if (!all.ok()) return all.error();
  if (!*all)
    return Error{Code::unavailable, "has more than " + std::to_string(bytes_max) + " bytes"};
  return out;
}

}  // namespace davit::secrets_file
