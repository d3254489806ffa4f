#include "disk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace acme {
namespace {

constexpr const char* mark = ".here";
constexpr const char* uid_file = ".uid";
constexpr const char* unfinished = ".new";  // a file that is being written

std::string new_of(const std::string& uid) {
  return "." + uid + ".new";
}
std::string gone_of(const std::string& uid) {
  return "." + uid + ".gone";
}

// `what` is a name, and never the content of a file.
Error failed(const std::string& what) {
  const int why = errno;
  const bool refused = why == EACCES || why == EPERM || why == EROFS;
  return {refused ? Code::permission_denied : Code::unavailable, what + ": " + std::strerror(why)};
}

Open folder_at(int directory, const std::string& name) {
  return Open(openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Result<> synchronised(const Open& open, const std::string& name) {
  if (fsync(open.get()) != 0) return failed(name);
  return {};
}

Result<std::string> read_at(int folder, const std::string& name) {
  const Open file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) return failed(name);
  std::string out;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = read(file.get(), buffer, sizeof buffer)) > 0) out.append(buffer, size_t(n));
  if (n < 0) return failed(name);
  return out;
}

// The file has its name when it is whole.
Result<> write_at(int folder, const std::string& name, const std::string& content) {
  const Open file(
      openat(folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) return failed(name);
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = write(file.get(), content.data() + at, content.size() - at);
    if (n < 0) return failed(name);
    at += size_t(n);
  }
  if (auto r = synchronised(file, name); !r.ok()) return r;
  if (renameat(folder, unfinished, folder, name.c_str()) != 0) return failed(name);
  return {};
}

Result<std::vector<std::string>> names_in(const Open& folder, const std::string& name) {
  const int again = openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(again < 0 ? nullptr : fdopendir(again), &closedir);
  if (!list) return failed(name);
  std::vector<std::string> out;
  errno = 0;
  while (const dirent* entry = readdir(list.get())) {
    const std::string file = entry->d_name;
    if (file != "." && file != "..") out.push_back(file);
  }
  if (errno != 0) return failed(name);
  return out;
}

}  // namespace

Open::~Open() {
  if (fd_ >= 0) close(fd_);
}

Result<> Disk::make(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0) return errno == EEXIST ? Result<>() : failed(path);
  const Open directory = folder_at(AT_FDCWD, path);
  if (directory.get() < 0) return failed(path);
  if (auto r = write_at(directory.get(), mark, "folders of clusters\n"); !r.ok()) return r;
  return synchronised(directory, path);
}

Result<Disk> Disk::open(const std::string& path) {
  Open directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return failed(path);
  if (faccessat(directory.get(), mark, F_OK, 0) != 0) return failed(path + "/" + mark);
  return Disk(std::move(directory));
}

Result<std::optional<std::string>> Disk::owner(const std::string& folder) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0 && errno == ENOENT) return std::optional<std::string>();
  if (open.get() < 0) return failed(folder);
  auto uid = read_at(open.get(), uid_file);
  if (!uid.ok()) return uid.error().in(folder);
  return std::optional(*uid);
}

Result<> Disk::claim(const std::string& folder, const std::string& uid) const {
  const std::string made = new_of(uid);
  if (mkdirat(directory_.get(), made.c_str(), 0700) != 0) return failed(made);
  const Open open = folder_at(directory_.get(), made);
  if (open.get() < 0) return failed(made);
  if (auto r = write_at(open.get(), uid_file, uid); !r.ok()) return r;
  if (auto r = synchronised(open, made); !r.ok()) return r;
  // This fails when there is such a folder, since none of ours is empty.
  if (renameat(directory_.get(), made.c_str(), directory_.get(), folder.c_str()) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY)
      return Error{Code::already_exists, folder + ": is of another cluster"};
    return failed(folder);
  }
  return synchronised(directory_, folder);
}

Result<> Disk::clean(const std::string& folder) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0) return failed(folder);
  if (unlinkat(open.get(), unfinished, 0) == 0 || errno == ENOENT) return {};
  return failed(unfinished).in(folder);
}

Result<int64_t> Disk::made_at_ms(const std::string& folder) const {
  struct stat found {};
  if (fstatat(directory_.get(), (folder + "/" + uid_file).c_str(), &found, 0) != 0)
    return failed(folder);
  return int64_t{found.st_mtim.tv_sec} * 1000 + found.st_mtim.tv_nsec / 1'000'000;
}

Result<std::map<std::string, std::string>> Disk::files(const std::string& folder) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0) return failed(folder);
  const auto names = names_in(open, folder);
  if (!names.ok()) return names.error();
  std::map<std::string, std::string> out;
  for (const std::string& name : *names) {
    if (name.starts_with(".")) continue;
    auto content = read_at(open.get(), name);
    if (!content.ok()) return content.error().in(folder);
    out.emplace(name, std::move(*content));
  }
  return out;
}

Result<> Disk::put(const std::string& folder, const std::string& file,
                   const std::string& content) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0) return failed(folder);
  if (auto r = write_at(open.get(), file, content); !r.ok()) return r.error().in(folder);
  return synchronised(open, folder);
}

Result<> Disk::drop(const std::string& folder, const std::string& file) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0) return failed(folder);
  if (unlinkat(open.get(), file.c_str(), 0) != 0 && errno != ENOENT) return failed(file).in(folder);
  return synchronised(open, folder);
}

Result<> Disk::retire(const std::string& folder, const std::string& uid) const {
  if (renameat(directory_.get(), folder.c_str(), directory_.get(), gone_of(uid).c_str()) != 0)
    return failed(folder);
  return synchronised(directory_, folder);
}

Result<> Disk::sweep(const std::string& uid) const {
  for (const std::string& folder : {new_of(uid), gone_of(uid)})
    if (auto r = remove(folder); !r.ok()) return r;
  return {};
}

Result<> Disk::remove(const std::string& folder) const {
  const Open open = folder_at(directory_.get(), folder);
  if (open.get() < 0) return errno == ENOENT ? Result<>() : failed(folder);
  const auto names = names_in(open, folder);
  if (!names.ok()) return names.error();
  for (const std::string& name : *names)
    if (unlinkat(open.get(), name.c_str(), 0) != 0) return failed(name).in(folder);
  if (unlinkat(directory_.get(), folder.c_str(), AT_REMOVEDIR) != 0) return failed(folder);
  return synchronised(directory_, folder);
}

}  // namespace acme
