#include "run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace davit::host {
namespace {

constexpr size_t output_bytes_max = 1 << 20;
constexpr int file_four_number = 4;

// A file in memory: no program waits for somebody to read or to write it.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text = {}) : fd_(::memfd_create("davit", MFD_CLOEXEC)) {
    for (size_t at = 0; fd_ >= 0 && at < text.size();) {
      const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;
      at += static_cast<size_t>(n);
    }
    if (fd_ >= 0) ::lseek(fd_, 0, SEEK_SET);
  }
  ~MemoryFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const {
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    std::string out(std::min(end < 0 ? 0 : static_cast<size_t>(end), output_bytes_max), '\0');
    const ssize_t n = ::pread(fd_, out.data(), out.size(), 0);
    out.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return out;
  }

 private:
  int fd_;
};

Result<pid_t> spawn(const std::vector<std::string>& words, int input, int output, int errors,
                    int file_four) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  if (file_four >= 0) posix_spawn_file_actions_adddup2(&files, file_four, file_four_number);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return pid;
  return Error{Code::failed_precondition,
               words.front() + " cannot be started: " + std::strerror(error)};
}

// Whether it ends in time.
bool ends_within(pid_t pid, std::chrono::milliseconds limit) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return true;  // the wait that follows has no limit then
  const auto deadline = std::chrono::steady_clock::now() + limit;
  pollfd end{fd, POLLIN, 0};
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    ready = ::poll(&end, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  ::close(fd);
  return ready > 0;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int by_signal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
}

}  // namespace

Result<ProgramRun> run_program(const std::vector<std::string>& words, const std::string& input,
                               const std::string& file_four, std::chrono::milliseconds limit) {
  const MemoryFile in(input), out, errors;
  const MemoryFile four(file_four);
  if (in.fd() < 0 || out.fd() < 0 || errors.fd() < 0 || four.fd() < 0)
    return Error{Code::unavailable, std::string("no file in memory: ") + std::strerror(errno)};
  const auto pid = spawn(words, in.fd(), out.fd(), errors.fd(), file_four.empty() ? -1 : four.fd());
  if (!pid.ok()) return pid.error();
  const bool in_time = ends_within(*pid, limit);
  if (!in_time) ::kill(*pid, SIGKILL);
  ProgramRun run;
  run.status = wait_for(*pid);
  if (!in_time) {
    return Error{Code::deadline_exceeded, words.front() + " has not ended within " +
                                              std::to_string(limit.count() / 1000) + " s"};
  }
  run.output = out.text();
  run.errors = errors.text();
  return run;
}

}  // namespace davit::host
