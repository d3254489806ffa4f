// Runs another program to its end, without a shell and without a terminal. Blocks the calling
// thread. Plugins use it for what is not theirs: a kubeconfig's exec plugins, programs that build
// clusters.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <davit/wiped.hpp>

namespace davit::process {

// Ends a run from another thread.
class Stopper {
 public:
  Stopper();
  ~Stopper();
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;
  void stop() const;              // [any] for good
  int fd() const { return fd_; }  // readable once stopped

 private:
  int fd_;
};

// Why a run has ended.
enum class End { by_itself, not_started, time_limit, stopped, output_limit };

struct Command {
  std::string program;  // a path, or a name that $PATH has
  std::vector<std::string> args;
  std::vector<std::string> environment;  // "NAME=value"
  std::chrono::milliseconds time_limit{60'000};
  size_t output_max = 64u << 10;
  std::string input;      // what it reads from stdin; empty: /dev/null
  std::string directory;  // in which it works; empty: that of this process
  // A file of this process that the program has as file 3, and all that it starts: a lock is held
  // until the last of them has ended. -1: none.
  int kept_file = -1;
  // Between SIGTERM and SIGKILL when a limit is passed; 0: SIGKILL at once.
  std::chrono::milliseconds grace{0};
  // Cuts the grace off; NULL: nothing does.
  const Stopper* no_grace = nullptr;
  // Whether what is left of its process group is killed when the program has ended by itself.
  bool end_whole_group = false;
  // The program has been started. May be empty.
  std::function<void(int pid)> on_started;
  // Pieces of what it writes to stderr, as they come. May be empty.
  std::function<void(std::string_view)> on_errors;
  // A limit is passed: called once, before the grace begins. May be empty.
  std::function<void(End, const std::string& failure)> on_limit;
};

struct Ran {
  bool found = true;  // false: there is no such program
  End end = End::by_itself;
  int status = 0;       // of waitpid, when it was started
  std::string failure;  // why it did not end by itself with 0; empty: it did
  Wiped output;         // what it has written to stdout
  std::string errors;   // the end of what it has written to stderr
};

// The program is the first of a session of its own, so it has no terminal, and all that it has
// started is killed with it when a limit is passed. It inherits no file but stdin, two pipes and
// `kept_file`. It is killed when this process dies, or the calling thread.
Ran run(const Command& command, const Stopper& stopper);

// The file that is run for a program: a path as it is, else the first in `path` ("/bin:/usr/bin")
// that may be run. Empty: there is none.
std::string find_program(const std::string& program, std::string_view path);

}  // namespace davit::process
