// Runs a program of this tool (ChildProgram) in a process of its own and kills it (SIGKILL), for
// tests of what a crash leaves.
#pragma once

#include <functional>
#include <mutex>

#include "suite.hpp"

namespace davit::conformance {

// When a child is killed: so long after it has come far enough by what it has written. However slow
// the plugin or the machine is, something happens before. A child that never comes so far is killed
// after a minute.
struct Life {
  std::function<bool(std::string_view told)> has_come_far;
  std::chrono::microseconds then{};
};

// Runs `program` with the arguments in a child, kills it, and returns what it has written to its
// standard output. A child that ends by itself is not killed.
std::string run_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                         const Life& life);

// In the child: writes lines to the parent.
class Teller {
 public:
  // One write for each text, so that a kill cuts only the last text.
  void tell(const std::string& text);

 private:
  std::mutex mutex_;
};

}  // namespace davit::conformance
