#include "uid_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "davit/short_hash.hpp"

namespace davit::actuator_exec {
namespace {

constexpr std::chrono::milliseconds retry_after{1'000};
// A program that another thread is just starting has all files of this process for a moment, which
// is long on a busy machine. Together two seconds.
constexpr int attempts = 100;
constexpr std::chrono::milliseconds between_attempts{20};

// Names of files: a uid is a UUID, as a rule.
std::string file_of(const std::string& uid) {
  const bool plain = uid.size() <= 128 && std::all_of(uid.begin(), uid.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '-';
                     });
  return plain ? uid + ".lock" : "_" + short_hash(uid) + ".lock";
}

Error failed(const std::string& path) {
  return {Code::unavailable, path + ": " + std::strerror(errno)};
}

// Whether the file is still the one with this name: who held it before may have removed it.
bool is_named(int fd, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

bool locked(int fd) {
  for (int i = 0; i < attempts; ++i) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    std::this_thread::sleep_for(between_attempts);
  }
  errno = EWOULDBLOCK;
  return false;
}

Error held(int fd) {
  std::array<char, 16> noted{};
  const ssize_t n = ::pread(fd, noted.data(), noted.size() - 1, 0);
  std::string which;
  if (n > 0 &&
      std::all_of(noted.data(), noted.data() + n, [](char c) { return c >= '0' && c <= '9'; }))
    which = " (process " + std::string(noted.data()) + ", or what it has started)";
  return {Code::unavailable, "the program of an earlier call for this cluster still runs" + which,
          "", retry_after};
}

}  // namespace

Result<UidLock> UidLock::take(const std::string& folder, const std::string& uid) {
  const std::string path = folder + "/" + file_of(uid);
  for (int i = 0; i < attempts; ++i) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return failed(path);
    UidLock lock(path, fd);
    if (!locked(fd)) {
      const Error why = errno == EWOULDBLOCK ? held(fd) : failed(path);
      ::close(std::exchange(lock.fd_, -1));
      return why;
    }
    if (is_named(fd, path)) return lock;
    ::close(std::exchange(lock.fd_, -1));
  }
  return Error{Code::unavailable, path + " changes all the time", "", retry_after};
}

void UidLock::note(int pid) const {
  const std::string text = std::to_string(pid);
  if (::ftruncate(fd_, 0) == 0) {
    [[maybe_unused]] const ssize_t n = ::pwrite(fd_, text.data(), text.size(), 0);
  }
}

// Whether somebody else has it shows only when this process tries anew: a lock belongs to all who
// have got the file from one another.
void UidLock::release() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, path_)) ::unlink(path_.c_str());
  ::close(fd);
}

}  // namespace davit::actuator_exec
