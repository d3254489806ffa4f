// What a test's child has told and how it ended, and what that says of the test. Pure.
#pragma once

#include <string>

#include "test_process.hpp"

namespace davit::conformance {

// What a child tells, one character each.
inline constexpr char told_failure = 'f';  // an expectation did not hold; the test may go on
inline constexpr char told_passed = 'P', told_failed = 'F', told_skipped = 'S';  // its end

struct Verdict {
  enum class Is { passed, skipped, failed };
  Is is = Is::failed;
  std::string why;  // of a failure that the test's own output does not explain; else empty
};

Verdict verdict_of(const Ended& ended, std::chrono::seconds limit);

// "was ended by signal 11 (Segmentation fault)", "ended with exit code 3".
std::string ending(int status);

}  // namespace davit::conformance
