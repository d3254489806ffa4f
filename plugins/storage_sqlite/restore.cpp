#include "restore.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <vector>

#include "incarnation.hpp"
#include "lock.hpp"

namespace davit::storage_sqlite {
namespace {

bool there(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Returns 0 or an errno.
int write_all(int to, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(to, bytes, size);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) bytes += n, size -= static_cast<size_t>(n);
  }
  return 0;
}

int copy_bytes(int from, int to) {
  std::vector<char> buffer(1 << 20);
  while (true) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n == 0) return ::fsync(to) == 0 ? 0 : errno;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (const int error = write_all(to, buffer.data(), static_cast<size_t>(n)); error != 0)
      return error;
  }
}

int copy_file(const std::string& from, const std::string& to) {
  const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return errno;
  const int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const int error = out < 0 ? errno : copy_bytes(in, out);
  if (out >= 0) ::close(out);
  ::close(in);
  return error;
}

// Begins a new incarnation: versions that were given after the copy was made belong to another
// history.
Result<> begin_incarnation_in(const std::string& path, int64_t now) {
  auto opened = Connection::open(path, SQLITE_OPEN_READWRITE);
  if (!opened.ok()) return opened.error();
  Connection& c = **opened;
  // All content must be in the one file when it gets its name.
  c.script("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL");
  if (c.failed()) return c.take_error();
  Transaction transaction(c, Transaction::Kind::write);
  c.run(
      "INSERT INTO incarnations (incarnation, first_version, first_status_version, "
      "opened_at_unix_ms) SELECT ?, head + 1, status_head + 1, ? FROM store",
      new_incarnation(), now);
  return transaction.commit();
}

std::string aside_name(const std::string& database, int64_t now_unix_ms) {
  const std::time_t seconds = now_unix_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), ".before-%Y%m%dT%H%M%SZ", &utc);
  std::string out = database + text.data();
  for (int i = 2; there(out); ++i) out = database + text.data() + "-" + std::to_string(i);
  return out;
}

// Gives the old files second names, so that the whole old store has a name at every moment.
Result<std::string> keep_aside(const std::string& database, int64_t now) {
  if (!there(database)) return std::string();
  const std::string aside = aside_name(database, now);
  for (const char* part : {"", "-wal"}) {
    if (!there(database + part)) continue;
    if (::link((database + part).c_str(), (aside + part).c_str()) != 0)
      return copy_fault(aside, "the store that is there cannot be kept under this name", errno);
  }
  sync_folder(database);
  return aside;
}

}  // namespace

Result<storage::Restored> restore(const std::string& database, const std::string& copy,
                                  int64_t now) {
  auto lock = Lock::take(database);
  if (!lock.ok()) return lock.error();
  auto copied = verify_file(copy, [](uint64_t, uint64_t) { return true; });
  if (!copied.ok()) return copied.error();
  const std::string next = database + ".restore", part = next + ".part";
  Result<> made;
  if (const int error = copy_file(copy, part); error != 0) {
    made = copy_fault(part, "cannot be written", error);
  } else {
    made = begin_incarnation_in(part, now);
  }
  if (!made.ok()) {
    ::unlink(part.c_str());
    return made.error();
  }
  if (::rename(part.c_str(), next.c_str()) != 0) return copy_fault(next, "cannot be named", errno);
  sync_folder(database);
  auto aside = keep_aside(database, now);
  if (!aside.ok()) {
    ::unlink(next.c_str());  // nothing has changed yet
    return aside.error();
  }
  // From here until the last rename no start is possible. The journal of the old file must not meet
  // the new file.
  for (const char* left : {"-wal", "-shm", "-journal"}) ::unlink((database + left).c_str());
  sync_folder(database);
  if (::rename(next.c_str(), database.c_str()) != 0)
    return copy_fault(database, "cannot be replaced", errno);
  sync_folder(database);
  return storage::Restored{*copied, *aside};
}

}  // namespace davit::storage_sqlite
