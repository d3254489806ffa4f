#include "copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "invariants.hpp"
#include "schema.hpp"

namespace davit::storage_sqlite {
namespace {

constexpr int pages_at_once = 1'024;  // 4 MiB: some milliseconds

// A temporary file. The destructor removes it, unless it has been given its final name.
class Part {
 public:
  explicit Part(const std::string& path) : name_(path + ".part") {
    ::unlink(name_.c_str());  // left by a copy that was killed
    descriptor_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    error_ = descriptor_ < 0 ? errno : 0;
  }
  ~Part() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (error_ == 0 && !named_) ::unlink(name_.c_str());
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  int error() const { return error_; }
  const std::string& name() const { return name_; }
  // Flushes the file to the disk. Returns 0 or an errno.
  int sync() const { return ::fsync(descriptor_) == 0 ? 0 : errno; }
  // Returns 0 or an errno. EEXIST: another process has created the file meanwhile.
  int give_name(const std::string& path) {
    if (::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
      // The file system cannot do that. The name was free a moment ago.
      if (errno != EINVAL && errno != ENOSYS) return errno;
      if (::rename(name_.c_str(), path.c_str()) != 0) return errno;
    }
    named_ = true;
    return 0;
  }

 private:
  const std::string name_;
  int descriptor_ = -1, error_ = 0;
  bool named_ = false;
};

Error ended() {
  return {Code::cancelled, "the copy was ended before it was whole"};
}

Error copy_failed(const std::string& path, const Connection& target, int code) {
  const Error error = target.translate(code);
  if (error.code == Code::resource_exhausted) return copy_fault(path, "cannot be written", ENOSPC);
  return copy_fault(path, error.code, "the copy failed (" + error.message + ")");
}

// Ends long statements once the caller no longer wants the result.
class Asked {
 public:
  Asked(Connection& c, const storage::CopyProgress& tell) : connection_(c), tell_(tell) {
    constexpr int steps = 100'000;  // of SQLite's machine: about a millisecond
    sqlite3_progress_handler(c.get(), steps, &Asked::over, this);
  }
  ~Asked() { sqlite3_progress_handler(connection_.get(), 0, nullptr, nullptr); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

 private:
  static int over(void* self) {
    auto& asked = *static_cast<Asked*>(self);
    if (asked.tell_(0, 0)) return 0;
    asked.connection_.fail(ended());
    return 1;
  }
  Connection& connection_;
  const storage::CopyProgress& tell_;
};

Result<> copy_pages(Connection& source, Connection& target, const std::string& path,
                    const storage::CopyProgress& tell) {
  sqlite3_backup* copy = sqlite3_backup_init(target.get(), "main", source.get(), "main");
  if (copy == nullptr) return copy_failed(path, target, sqlite3_errcode(target.get()));
  int64_t page = 4'096;
  {
    Statement s = source.query("PRAGMA page_size");
    if (s.step()) page = s.integer(0);
  }
  int code = SQLITE_OK;
  bool wanted = true;
  while (wanted && code == SQLITE_OK) {
    code = sqlite3_backup_step(copy, pages_at_once);
    const int64_t total = sqlite3_backup_pagecount(copy), left = sqlite3_backup_remaining(copy);
    wanted =
        tell(static_cast<uint64_t>((total - left) * page), static_cast<uint64_t>(total * page));
  }
  sqlite3_backup_finish(copy);
  if (code == SQLITE_DONE) return {};
  return code == SQLITE_OK ? ended() : copy_failed(path, target, code);
}

// Escapes a path for SQLite's URIs.
std::string quoted(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      char hex[4];
      std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Error copy_fault(const std::string& path, Code code, const std::string& text) {
  return {code, "\"" + path + "\": " + text};
}

Error copy_fault(const std::string& path, const std::string& what, int number) {
  if (number == ENOSPC || number == EDQUOT || number == EFBIG)
    return copy_fault(path, Code::resource_exhausted,
                      what + ": no space is left on its disk; nothing was kept");
  if (number == EEXIST)
    return copy_fault(path, Code::already_exists, "is there already: choose another name");
  return copy_fault(path, Code::failed_precondition, what + ": " + std::strerror(number));
}

void sync_folder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

Result<storage::Copied> copy_to(Connection& source, const std::string& path,
                                const storage::CopyProgress& tell) {
  if (path.empty() || path[0] != '/')
    return copy_fault(path, Code::invalid_argument, "must be an absolute path");
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) return copy_fault(path, "", EEXIST);
  {
    Statement begins = source.query("SELECT head FROM store");  // fixes the state of the copy
    begins.step();
  }
  Part part(path);
  if (part.error() != 0) return copy_fault(path, "cannot be made", part.error());
  {
    auto target = Connection::open(part.name(), SQLITE_OPEN_READWRITE);
    if (!target.ok()) return target.error();
    // A copy that fails is removed, and a complete one is flushed once, so SQLite need not protect
    // it.
    (*target)->script("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    if ((*target)->failed()) return (*target)->take_error();
    if (auto r = copy_pages(source, **target, path, tell); !r.ok()) return r.error();
  }
  if (const int error = part.sync(); error != 0)
    return copy_fault(path, "cannot be written", error);
  auto copied = verify_file(part.name(), tell);
  if (!copied.ok()) return copied.error();
  if (const int error = part.give_name(path); error != 0)
    return copy_fault(path, "cannot be named", error);
  sync_folder(path);
  return copied;
}

Result<storage::Copied> verify_all(Connection& c, const storage::CopyProgress& tell) {
  storage::Copied out;
  if (!tell(0, 0)) return ended();
  const Asked asked(c, tell);
  if (auto fault = find_fault(c))
    return copy_fault(c.path(), Code::data_loss, "is corrupt: " + *fault);
  {
    Statement s = c.query("SELECT head FROM store");
    if (s.step()) out.head.version = Version(s.number(0));
  }
  {
    Statement s = c.query("SELECT incarnation FROM incarnations ORDER BY number DESC LIMIT 1");
    if (s.step()) out.head.incarnation = Incarnation(s.number(0));
  }
  {
    Statement s = c.query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    if (s.step()) out.bytes = s.number(0);
  }
  if (c.failed()) return c.take_error();
  return out;
}

Result<storage::Copied> verify_file(const std::string& path, const storage::CopyProgress& tell) {
  if (path.empty() || path[0] != '/')
    return copy_fault(path, Code::invalid_argument, "must be an absolute path");
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return copy_fault(path, "cannot be read", errno);
  if (there.st_size == 0) return copy_fault(path, Code::data_loss, "is empty");
  if (::stat((path + "-wal").c_str(), &there) == 0 && there.st_size > 0) {
    return copy_fault(path, Code::failed_precondition,
                      "has a journal beside it (-wal): it is in use, or was copied from a running "
                      "davit; make one with `davit storage backup`");
  }
  if (auto r = inspect_copy(path); !r.ok()) return r.error();
  // No process changes the file, so SQLite need not create a journal beside it.
  auto c = Connection::open("file:" + quoted(path) + "?immutable=1",
                            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (!c.ok()) return c.error();
  return verify_all(**c, tell);
}

}  // namespace davit::storage_sqlite
