#include "spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace davit::process {
namespace {

constexpr int kept_number = 3, told_number = 4, first_number_above = 5;

// The step of the child that failed, as it tells its parent.
struct Failed {
  int error;
  int in_directory;
};

// All that the child needs. It is made before the fork: after it, memory must not be allocated.
struct Prepared {
  const char* file;
  const char* directory;  // NULL: it stays where it is
  char* const* args;
  char* const* environment;
  int input, output, errors, kept, told;
  pid_t parent;
};

[[noreturn]] void fail(int in_directory) {
  const Failed failed{errno, in_directory};
  [[maybe_unused]] const ssize_t written = ::write(told_number, &failed, sizeof failed);
  ::_exit(127);
}

void close_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  const long most = ::sysconf(_SC_OPEN_MAX);  // a kernel before 5.9
  for (long fd = first; fd < most; ++fd) ::close(static_cast<int>(fd));
}

// In the child. The numbers that it moves from are all above those that it moves to.
[[noreturn]] void become(const Prepared& p) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != p.parent) ::_exit(127);  // it died before the line above
  ::dup2(p.told, told_number);
  ::fcntl(told_number, F_SETFD, FD_CLOEXEC);
  if (::dup2(p.input, STDIN_FILENO) < 0 || ::dup2(p.output, STDOUT_FILENO) < 0 ||
      ::dup2(p.errors, STDERR_FILENO) < 0 || (p.kept >= 0 && ::dup2(p.kept, kept_number) < 0))
    fail(0);
  if (p.kept < 0) ::close(kept_number);
  close_from(first_number_above);
  if (p.directory != nullptr && ::chdir(p.directory) != 0) fail(1);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(p.file, p.args, p.environment);
  fail(0);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A file in memory, which nobody can change. A program that does not read it breaks no pipe.
int input_of(const Command& command) {
  if (command.input.empty()) return moved_up(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = moved_up(::memfd_create("davit-input", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) return -1;
  const bool made =
      write_all(fd, command.input) && ::lseek(fd, 0, SEEK_SET) == 0 &&
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
  if (made) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

// No handler of this process may run in the child.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

pid_t forked(const Prepared& prepared) {
  const AllSignalsBlocked blocked;
  const pid_t pid = ::fork();
  if (pid == 0) become(prepared);
  return pid;
}

// Whether the program runs: the pipe is closed by its start, without a word.
Spawned outcome(pid_t pid, int told) {
  Failed failed{};
  ssize_t n = 0;
  do {
    n = ::read(told, &failed, sizeof failed);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof failed) return {pid, 0};
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {-1, failed.error, failed.in_directory != 0};
}

}  // namespace

int moved_up(int fd) {
  if (fd < 0 || fd >= first_number_above) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, first_number_above);
  const int error = errno;
  ::close(fd);
  errno = error;
  return moved;
}

std::string find_program(const std::string& program, std::string_view path) {
  if (program.find('/') != std::string::npos) return program;
  std::string there;  // and may not be run
  while (!path.empty() && !program.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    const std::string file = std::string(path.substr(0, end)) + "/" + program;
    path.remove_prefix(std::min(end + 1, path.size()));
    struct stat found {};
    if (!file.starts_with('/') || ::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
      continue;
    if (::access(file.c_str(), X_OK) == 0) return file;
    if (there.empty()) there = file;
  }
  return there;
}

Spawned spawn(const Command& command, int output, int errors) {
  const char* path = ::getenv("PATH");
  const std::string file =
      find_program(command.program, path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  if (file.empty()) return {-1, ENOENT};
  const File input(input_of(command));
  if (input.fd() < 0) return {-1, errno};
  const File kept(
      command.kept_file < 0 ? -1 : ::fcntl(command.kept_file, F_DUPFD_CLOEXEC, first_number_above));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, errno};
  const File told(moved_up(ends[0]));
  File tells(moved_up(ends[1]));
  if ((command.kept_file >= 0 && kept.fd() < 0) || told.fd() < 0 || tells.fd() < 0)
    return {-1, errno};
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.args.begin(), command.args.end());
  const auto args = pointers(words), environment = pointers(command.environment);
  const pid_t pid = forked(
      {file.c_str(), command.directory.empty() ? nullptr : command.directory.c_str(), args.data(),
       environment.data(), input.fd(), output, errors, kept.fd(), tells.fd(), ::getpid()});
  if (pid < 0) return {-1, errno};
  tells.close();
  return outcome(pid, told.fd());
}

}  // namespace davit::process
