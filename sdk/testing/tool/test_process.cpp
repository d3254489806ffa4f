#include "test_process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace davit::conformance {
namespace {

volatile std::sig_atomic_t caught = 0;

constexpr int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

// The mask of the process before interrupts were blocked.
const sigset_t& mask_of_before() {
  static const sigset_t before = [] {
    struct sigaction action {};
    action.sa_handler = [](int number) { caught = number; };
    sigset_t blocked, old;
    sigemptyset(&blocked);
    for (const int number : interrupts) {
      sigaction(number, &action, nullptr);
      sigaddset(&blocked, number);
    }
    sigprocmask(SIG_BLOCK, &blocked, &old);
    return old;
  }();
  return before;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read = ends[0], write = ends[1];
    fcntl(read, F_SETFL, O_NONBLOCK);
  }
};

// Appends what can be read now, up to `most` bytes of text; the rest is dropped. False: the end.
bool drain(int descriptor, std::string& text, size_t most) {
  char buffer[65536];
  while (true) {
    const ssize_t n = read(descriptor, buffer, sizeof buffer);
    if (n <= 0) return n != 0;
    if (text.size() >= most) continue;
    text.append(buffer, std::min(static_cast<size_t>(n), most - text.size()));
    if (text.size() == most) text += "\n[the rest of the output is left out]\n";
  }
}

timespec until(TestProcess::Clock::time_point deadline) {
  const auto left =
      std::max(deadline - TestProcess::Clock::now(), TestProcess::Clock::duration::zero());
  const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(left).count();
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

}  // namespace

int TestProcess::interrupted() {
  mask_of_before();
  return caught;
}

TestProcess::TestProcess(std::function<int(int tell)> body, std::chrono::milliseconds limit)
    : begin_(Clock::now()),
      deadline_(limit.count() == 0 ? Clock::time_point::max() : begin_ + limit) {
  mask_of_before();
  const Pipe output, tell;
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot make a process");
  if (pid_ == 0) run(body, output.write, tell.write);
  setpgid(pid_, pid_);  // the child does it, too: whoever is first
  close(output.write);
  close(tell.write);
  output_ = output.read, tell_ = tell.read;
  process_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (process_ >= 0) return;
  kill_all();
  waitpid(pid_, nullptr, 0);
  throw std::runtime_error("cannot watch a process (pidfd_open)");
}

void TestProcess::run(const std::function<int(int)>& body, int output, int tell) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : interrupts) std::signal(number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask_of_before(), nullptr);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  setenv("TMPDIR", directory_.path().c_str(), 1);
  int code = 1;
  try {
    code = body(tell);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "exception: %s\n", e.what());
  }
  std::exit(code);  // with what a sanitizer has to say
}

TestProcess::~TestProcess() {
  if (!ended_) {
    kill_all();
    waitpid(pid_, nullptr, 0);
  }
  for (const int descriptor : {process_, output_, tell_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void TestProcess::kill_all() const {
  kill(-pid_, SIGKILL);
}

void TestProcess::read_what_is_there() {
  drain(output_, result_.output, output_max);
  drain(tell_, result_.told, 4096);
}

size_t TestProcess::wait(const std::vector<std::unique_ptr<TestProcess>>& children) {
  std::vector<pollfd> watched;
  for (const auto& child : children) {
    watched.push_back({child->process_, POLLIN, 0});
    watched.push_back({child->output_, POLLIN, 0});
  }
  while (true) {
    const auto first =
        std::min_element(children.begin(), children.end(),
                         [](const auto& a, const auto& b) { return a->deadline_ < b->deadline_; });
    const bool endless = (*first)->deadline_ == Clock::time_point::max();
    const timespec time = until((*first)->deadline_);
    ppoll(watched.data(), watched.size(), endless ? nullptr : &time, &mask_of_before());
    const bool interrupt = caught != 0;
    for (size_t i = 0; i < children.size(); ++i) {
      TestProcess& child = *children[i];
      child.read_what_is_there();
      if ((watched[2 * i].revents & POLLIN) != 0) return i;
      if (!interrupt && Clock::now() < child.deadline_) continue;
      child.result_.why = interrupt ? Ended::Why::interrupt : Ended::Why::timeout;
      return i;
    }
    for (size_t i = 0; i < children.size(); ++i) {
      if ((watched[2 * i + 1].revents & POLLHUP) != 0) watched[2 * i + 1].fd = -1;  // it closed it
    }
  }
}

Ended TestProcess::end() {
  kill_all();  // what the process has started may outlive it
  waitpid(pid_, &result_.status, 0);
  ended_ = true;
  read_what_is_there();
  result_.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_);
  return std::move(result_);
}

}  // namespace davit::conformance
