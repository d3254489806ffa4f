#include "lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace davit::storage_sqlite {
namespace {

// The owner writes its pid into the file, for people.
std::string owner(int descriptor) {
  char buffer[32] = {};
  const ssize_t size = pread(descriptor, buffer, sizeof buffer - 1, 0);
  std::string pid(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "" : " (pid " + pid + ")";
}

}  // namespace

Result<Lock> Lock::take(const std::string& database) {
  const auto error = [&](const std::string& text) {
    return Error{Code::failed_precondition, "database \"" + database + "\": " + text, database, {}};
  };
  const std::string path = database + ".lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (descriptor < 0) {
    return error("cannot make its lock file (" + std::string(std::strerror(errno)) +
                 "): make the directory writable, or choose another path");
  }
  Lock lock(descriptor);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return error("is in use by another process" + owner(descriptor) +
                 ": stop it or choose another path");
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, pid.data(), pid.size(), 0) < 0) {
    // Only for people; the lock holds without it (on a full disk, say).
  }
  return lock;
}

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace davit::storage_sqlite
