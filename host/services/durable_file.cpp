#include "durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace davit::host {
namespace {

constexpr mode_t private_file = 0600;

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Error disk_error(const std::string& path, int number) {
  return {Code::unavailable, path + ": " + std::strerror(number)};
}

bool is_there(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

Result<> write_private_file(const std::string& path, const std::string& text) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_error(path, errno);
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_file);
  if (fd < 0) return disk_error(path, errno);
  const bool written = write_whole(fd, text) && ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  if (written) return {};
  ::unlink(path.c_str());
  return disk_error(path, why);
}

Result<> place_private_file(const std::string& path, const std::string& text) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string made = path + ".new-" + std::to_string(::getpid());
  if (auto r = write_private_file(made, text); !r.ok()) return r;
  const auto placed = name_file_once(made, path);
  if (!placed.ok()) return placed.error();
  if (!*placed) return Error{Code::already_exists, path + " is there: it is not overwritten"};
  return sync_folder(folder);
}

Result<> name_file(const std::string& made, const std::string& path) {
  if (::rename(made.c_str(), path.c_str()) == 0) return {};
  const int why = errno;
  if (auto r = remove_file(made); !r.ok()) return r;
  return disk_error(path, why);
}

Result<bool> name_file_once(const std::string& made, const std::string& path) {
  // A link fails when there is one.
  const bool named = ::link(made.c_str(), path.c_str()) == 0;
  const int why = errno;
  if (auto r = remove_file(made); !r.ok()) return r.error();
  if (!named && why != EEXIST) return disk_error(path, why);
  return named;
}

Result<> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return disk_error(path, errno);
  return {};
}

Result<> sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return disk_error(path, errno);
  const bool synced = ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  if (synced) return {};
  return disk_error(path, why);
}

}  // namespace davit::host
