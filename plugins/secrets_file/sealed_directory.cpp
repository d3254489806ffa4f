#include "sealed_directory.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files.hpp"
#include "ref.hpp"

namespace davit::secrets_file {
namespace {

// The kernel gives up when a folder is renamed while it looks.
constexpr int attempts_max = 16;

Descriptor open_beneath(int folder, const char* path, uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int attempt = 1;; ++attempt) {
    Descriptor fd(static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how)));
    if (fd || (errno != EAGAIN && errno != EINTR) || attempt == attempts_max) return fd;
  }
}

Error open_fault(int number) {
  if (number == EXDEV)
    return {Code::permission_denied, "a symbolic link on its path leads out of the directory"};
  if (number == ELOOP) return {Code::permission_denied, "its path has too many symbolic links"};
  if (number == ENOENT || number == ENOTDIR) return {Code::not_found, "there is no such file"};
  return file_fault(number);
}

}  // namespace

Result<std::string> SealedDirectory::read(const std::string& ref) const {
  if (const std::string fault = ref_fault(ref); !fault.empty())
    return Error{Code::invalid_argument, fault};
  const auto folder = open_folder(path_);
  if (!folder.ok()) return folder.error().in("directory");
  const Descriptor file =
      open_beneath(folder->get(), ref.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return open_fault(errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file_fault(errno);
  if (!S_ISREG(status.st_mode)) return Error{Code::not_found, "is no file"};
  std::string content;
  const auto all = read_to_end(file.get(), bytes_max_, content);
  if (!all.ok()) return all.error();
  if (!*all) return Error{Code::unavailable, "its file is larger than value_bytes_max allows"};
  return content;
}

Result<> SealedDirectory::check() const {
  const auto folder = open_folder(path_);
  if (!folder.ok()) return folder.error().in("directory");
  if (open_beneath(folder->get(), ".", O_PATH | O_DIRECTORY)) return {};
  if (errno == ENOSYS || errno == EPERM)
    return Error{
        Code::failed_precondition,
        "directory: the system call openat2 is missing: it takes Linux 5.6 or newer, and a "
        "container whose seccomp profile knows it"};
  return file_fault(errno).in("directory: " + path_);
}

}  // namespace davit::secrets_file
