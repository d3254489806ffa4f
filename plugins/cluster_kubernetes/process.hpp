// Runs another program to its end, without a shell and without a terminal. Blocks the calling
// thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <davit/wiped.hpp>

namespace davit::cluster_kubernetes {

// Ends a run from another thread.
class Stopper {
 public:
  Stopper();
  ~Stopper();
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;
  void stop();                    // [any] for good
  int fd() const { return fd_; }  // readable once stopped

 private:
  int fd_;
};

struct Command {
  std::string program;  // a path, or a name that $PATH has
  std::vector<std::string> args;
  std::vector<std::string> environment;  // "NAME=value"
  std::chrono::milliseconds time_limit{60'000};
  size_t output_max = 64u << 10;
};

struct Ran {
  bool found = true;    // false: there is no such program
  std::string failure;  // why it did not end by itself with 0; empty: it did
  Wiped output;         // what it has written to stdout
  std::string errors;   // the end of what it has written to stderr
};

// The program is the first of a session of its own, so it has no terminal, and all that it has
// started is killed with it when a limit is passed. It inherits no file but /dev/null and two
// pipes.
Ran run(const Command& command, const Stopper& stopper);

}  // namespace davit::cluster_kubernetes
