// Runs tests by name, each in a child, some at once, and prints what GoogleTest prints: a line when
// a test begins, its output, a line with its result, and a summary at the end.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "verdict.hpp"

namespace davit::conformance {

struct Plan {
  std::vector<std::string> tests;  // "Storage.S7_..."
  unsigned jobs = 1;
  std::chrono::seconds limit{0};  // of one test; 0: none
  // Runs one test in the child; see TestProcess and verdict.hpp for what it tells and returns.
  std::function<int(const std::string& test, int tell)> run;
};

// 0: no test failed; 1; or 128 and the number of the signal that interrupted the run.
int run_tests(const Plan& plan, std::ostream& out);

}  // namespace davit::conformance
