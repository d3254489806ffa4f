#include "lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace davit::storage_sqlite {
namespace {

constexpr std::string_view made_word = "made\n";

// The first line is the owner's pid, for people. The second line says that the database was
// created.
std::string content(int descriptor) {
  char buffer[64] = {};
  const ssize_t size = pread(descriptor, buffer, sizeof buffer - 1, 0);
  return {buffer, size > 0 ? static_cast<size_t>(size) : 0};
}

Error in_use(const std::string& database, int descriptor) {
  const std::string all = content(descriptor);
  const std::string pid = all.substr(0, all.find('\n'));
  return {Code::unavailable,
          "database \"" + database + "\": is in use by another process" +
              (pid.empty() ? "" : " (pid " + pid + ")") + ": stop it or choose another path",
          database};
}

// A process that only looks holds the lock for a moment; a second attempt then succeeds.
bool lock_soon(int descriptor, int kind) {
  constexpr timespec moment{0, 20'000'000};
  if (flock(descriptor, kind | LOCK_NB) == 0) return true;
  nanosleep(&moment, nullptr);
  return flock(descriptor, kind | LOCK_NB) == 0;
}

}  // namespace

Result<Lock> Lock::take(const std::string& database) {
  const std::string path = database + ".lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return Error{Code::failed_precondition,
                 "database \"" + database + "\": cannot make its lock file (" +
                     std::string(std::strerror(errno)) +
                     "): make the directory writable, or choose another path",
                 database};
  }
  Lock lock(descriptor);
  if (!lock_soon(descriptor, LOCK_EX)) return in_use(database, descriptor);
  lock.made_ = content(descriptor).find(made_word) != std::string::npos;
  const std::string pid =
      std::to_string(getpid()) + "\n" + std::string(lock.made_ ? made_word : "");
  if (pwrite(descriptor, pid.data(), pid.size(), 0) < 0 ||
      ftruncate(descriptor, static_cast<off_t>(pid.size())) != 0) {
    // The pid is only for people. The lock holds without it (on a full disk, for example).
  }
  return lock;
}

Result<> Lock::look(const std::string& database) {
  const int descriptor = open((database + ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const Lock looked(descriptor);
  if (!lock_soon(descriptor, LOCK_SH)) return in_use(database, descriptor);
  return {};
}

void Lock::note_made() {
  if (std::exchange(made_, true)) return;
  const std::string all = std::to_string(getpid()) + "\n" + std::string(made_word);
  if (pwrite(descriptor_, all.data(), all.size(), 0) < 0) made_ = false;  // the next start retries
}

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace davit::storage_sqlite
