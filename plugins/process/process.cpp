#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "spawn.hpp"

namespace davit::process {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t errors_kept = 4096;

struct Pipe {
  File read, write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.reset(moved_up(ends[0]));
    write.reset(moved_up(ends[1]));
    // This process reads when there is something; the program may block when it writes.
    return read.fd() >= 0 && write.fd() >= 0 && ::fcntl(read.fd(), F_SETFL, O_NONBLOCK) == 0;
  }
};

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
    if (!output_.open() || !errors_.open()) return not_started({-1, errno});
    const Spawned spawned = spawn(command_, output_.write.fd(), errors_.write.fd());
    output_.write.close();
    errors_.write.close();
    if (spawned.error != 0) return not_started(spawned);
    pid_ = spawned.pid;
    if (command_.on_started) command_.on_started(pid_);
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (process_.fd() < 0) {
      passed(End::not_started, "the kernel must be Linux 5.3 or newer (pidfd_open)");
    } else {
      wait();
    }
    if (out_.end != End::by_itself) end();
    // It is not reaped yet, so that its number is nobody else's.
    if (out_.end != End::by_itself || command_.end_whole_group) ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &out_.status, 0) < 0 && errno == EINTR) {
    }
    if (out_.end == End::by_itself) out_.failure = ending(out_.status);
    return std::move(out_);
  }

 private:
  Ran not_started(const Spawned& spawned) {
    out_.found = spawned.error != ENOENT || spawned.in_directory;
    out_.end = End::not_started;
    out_.failure = spawned.in_directory ? "its working directory cannot be entered: "
                                        : "it could not be started: ";
    out_.failure += std::strerror(spawned.error);
    return std::move(out_);
  }

  // A limit.
  void passed(End limit, std::string why) {
    out_.end = limit;
    out_.failure = std::move(why);
    if (command_.on_limit) command_.on_limit(limit, out_.failure);
  }

  // Until the program has ended, or a limit is passed. What the program has started may live on,
  // and holds nobody up.
  void wait() {
    const auto until = Clock::now() + command_.time_limit;
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() <= 0) {
        return passed(End::time_limit,
                      "it took longer than " + std::to_string(command_.time_limit.count()) + " ms");
      }
      std::array<pollfd, 4> files{{{stopper_.fd(), POLLIN, 0},
                                   {process_.fd(), POLLIN, 0},
                                   {output_.read.fd(), POLLIN, 0},
                                   {errors_.read.fd(), POLLIN, 0}}};
      if (::poll(files.data(), files.size(), wait_of(left)) < 0) continue;
      if (files[0].revents != 0)
        return passed(End::stopped, "it was ended, because this process ends");
      read_errors();
      if (!read_output()) {
        return passed(End::output_limit,
                      "it wrote more than " + std::to_string(command_.output_max) + " bytes");
      }
      if (files[1].revents != 0) return;  // what it wrote before is read
    }
  }

  // Asks it to end, and gives it the grace to do so. What it writes meanwhile is dropped, so that
  // it does not block. run() kills what is left.
  void end() {
    if (command_.grace.count() <= 0 || process_.fd() < 0) return;
    ::kill(-pid_, SIGTERM);
    const auto until = Clock::now() + command_.grace;
    const int no_grace = command_.no_grace == nullptr ? -1 : command_.no_grace->fd();
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() <= 0) return;
      std::array<pollfd, 4> files{{{no_grace, POLLIN, 0},
                                   {process_.fd(), POLLIN, 0},
                                   {output_.read.fd(), POLLIN, 0},
                                   {errors_.read.fd(), POLLIN, 0}}};
      if (::poll(files.data(), files.size(), wait_of(left)) < 0) continue;
      read_errors();
      drop_output();
      if (files[0].revents != 0 || files[1].revents != 0) return;
    }
  }

  static int wait_of(std::chrono::milliseconds left) {
    return static_cast<int>(std::min<int64_t>(left.count(), 3'600'000));
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
  void drop_output() {
    std::array<char, 4096> piece;
    for (int i = 0; i < 16 && read(output_.read, piece) > 0; ++i) {
    }
    explicit_bzero(piece.data(), piece.size());
  }
  // A few pieces, because it may write for ever.
  void read_errors() {
    std::array<char, 4096> piece;
    ssize_t n = 0;
    for (int i = 0; i < 16 && (n = read(errors_.read, piece)) > 0; ++i) {
      if (command_.on_errors) command_.on_errors({piece.data(), static_cast<size_t>(n)});
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

void Stopper::stop() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_, &one, sizeof one);
}

Ran run(const Command& command, const Stopper& stopper) {
  return Child(command, stopper).run();
}

}  // namespace davit::process
