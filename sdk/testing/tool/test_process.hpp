// A function that runs in a child process: the edge between davit-conformance and what a plugin may
// do to its process. The child is a group of processes of its own, has its own folder for temporary
// files, and is killed with all that it has started when its time is over or the tool ends.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include <davit/testing/temporary.hpp>

namespace davit::conformance {

// How a child ended.
struct Ended {
  enum class Why { itself, timeout, interrupt };
  Why why = Why::itself;
  int status = 0;      // of waitpid
  std::string output;  // what it wrote to stdout and stderr, at most `output_max` of it
  std::string told;    // what it wrote to the descriptor that `body` got
  std::chrono::milliseconds took{0};
};

class TestProcess {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t output_max = 4 << 20;

  // Runs `body` in a child. The result is its exit code; `tell` is a descriptor that leads to
  // Ended::told. The calling process must have no thread beside the calling one. A limit of 0:
  // none. Throws std::runtime_error when there can be no child.
  TestProcess(std::function<int(int tell)> body, std::chrono::milliseconds limit);
  ~TestProcess();  // kills it
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;

  // Waits until one of the children has ended, or its time is over, and says which. While it waits,
  // SIGINT, SIGTERM and SIGHUP are taken: then every child is killed and ends by `interrupt`.
  static size_t wait(const std::vector<std::unique_ptr<TestProcess>>& children);
  // After wait() has named this child.
  Ended end();

  // SIGINT and its like are blocked in this process from the first call on. The number of the one
  // that came; 0: none.
  static int interrupted();

 private:
  void run(const std::function<int(int)>& body, int output, int tell);
  void read_what_is_there();
  void kill_all() const;

  testing::TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int process_ = -1, output_ = -1, tell_ = -1;
  bool ended_ = false;
  Clock::time_point begin_, deadline_;
  Ended result_;
};

}  // namespace davit::conformance
