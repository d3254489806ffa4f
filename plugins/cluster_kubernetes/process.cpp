#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace davit::cluster_kubernetes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t errors_kept = 4096;

class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void reset(int fd) {
    close();
    fd_ = fd;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

struct Pipe {
  File read, write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    // This process reads when there is something; the program may block when it writes.
    return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// 0, or an errno.
int spawn(const Command& command, int output, int errors, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.args.begin(), command.args.end());
  const int failed = ::posix_spawnp(&pid, command.program.c_str(), &files, &attributes,
                                    pointers(words).data(), pointers(command.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

// How the program has ended; empty: with 0.
std::string ending(int status) {
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == 0 ? std::string() : "it ended with exit code " + std::to_string(code);
  }
  return "signal " + std::to_string(WTERMSIG(status)) + " ended it";
}

class Child {
 public:
  Child(const Command& command, const Stopper& stopper) : command_(command), stopper_(stopper) {}

  Ran run() {
    if (!output_.open() || !errors_.open()) return not_started(errno);
    const int failed = spawn(command_, output_.write.fd(), errors_.write.fd(), pid_);
    output_.write.close();
    errors_.write.close();
    if (failed != 0) return not_started(failed);
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    const std::string why =
        process_.fd() < 0 ? "the kernel must be Linux 5.3 or newer (pidfd_open)" : wait();
    if (!why.empty()) ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    out_.failure = why.empty() ? ending(status) : why;
    return std::move(out_);
  }

 private:
  Ran not_started(int error) {
    out_.found = error != ENOENT;
    out_.failure = "it could not be started: " + std::string(std::strerror(error));
    return std::move(out_);
  }

  // Until the program has ended, or a limit is passed: then it returns why. What the program has
  // started may live on, and holds nobody up.
  std::string wait() {
    const auto until = Clock::now() + command_.time_limit;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() <= 0)
        return "it took longer than " + std::to_string(command_.time_limit.count()) + " ms";
      std::array<pollfd, 4> files{{{stopper_.fd(), POLLIN, 0},
                                   {process_.fd(), POLLIN, 0},
                                   {output_.read.fd(), POLLIN, 0},
                                   {errors_.read.fd(), POLLIN, 0}}};
      if (::poll(files.data(), files.size(), static_cast<int>(left.count())) < 0) continue;
      if (files[0].revents != 0) return "it was ended, because this process ends";
      read_errors();
      if (!read_output())
        return "it wrote more than " + std::to_string(command_.output_max) + " bytes";
      if (files[1].revents != 0) return {};  // what it wrote before is read
    }
  }

  // Takes what is there. False: it is too much.
  bool read_output() {
    std::array<char, 4096> piece;
    for (ssize_t n = 0; (n = read(output_.read, piece)) > 0;) {
      out_.output.append({piece.data(), static_cast<size_t>(n)});
      explicit_bzero(piece.data(), piece.size());
      if (out_.output.size() > command_.output_max) return false;
    }
    return true;
  }
  // A few pieces, because it may write for ever.
  void read_errors() {
    std::array<char, 4096> piece;
    ssize_t n = 0;
    for (int i = 0; i < 16 && (n = read(errors_.read, piece)) > 0; ++i) {
      out_.errors.append(piece.data(), static_cast<size_t>(n));
      if (out_.errors.size() > errors_kept) out_.errors.erase(0, out_.errors.size() - errors_kept);
    }
  }
  // Closes the file at its end.
  static ssize_t read(File& file, std::array<char, 4096>& into) {
    if (file.fd() < 0) return 0;
    ssize_t n = 0;
    do {
      n = ::read(file.fd(), into.data(), into.size());
    } while (n < 0 && errno == EINTR);
    if (n == 0) file.close();
    return n;
  }

  const Command& command_;
  const Stopper& stopper_;
  Pipe output_, errors_;
  pid_t pid_ = -1;
  File process_;
  Ran out_;
};

}  // namespace

Stopper::Stopper() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Stopper::~Stopper() {
  if (fd_ >= 0) ::close(fd_);
}

void Stopper::stop() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

Ran run(const Command& command, const Stopper& stopper) {
  return Child(command, stopper).run();
}

}  // namespace davit::cluster_kubernetes
