#include "verdict.hpp"

#include <cstring>

#include <sys/wait.h>

namespace davit::conformance {

std::string ending(int status) {
  if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

Verdict verdict_of(const Ended& ended, std::chrono::seconds limit) {
  using Is = Verdict::Is;
  if (ended.why == Ended::Why::interrupt) return {Is::failed, "the run was interrupted"};
  if (ended.why == Ended::Why::timeout) {
    return {Is::failed, "the test did not end within " + std::to_string(limit.count()) +
                            " s, and its process was killed: something hangs, or --timeout is too "
                            "short"};
  }
  const bool failed = ended.told.find(told_failure) != std::string::npos;
  const char last = ended.told.empty() ? '\0' : ended.told.back();
  const bool exited = WIFEXITED(ended.status);
  const int code = exited ? WEXITSTATUS(ended.status) : -1;
  if (last != told_passed && last != told_failed && last != told_skipped) {
    if (failed && code == 1) return {};  // a test that cannot go on
    return {Is::failed, "its process " + ending(ended.status) + " before the test had a verdict" +
                            (code == 0 ? ": the plugin has ended it" : "")};
  }
  if (last == told_failed && code == 1) return {};
  if (last != told_failed && code == 0) return {last == told_passed ? Is::passed : Is::skipped, {}};
  return {Is::failed, "the test came to its end, and then its process " + ending(ended.status) +
                          ": a destructor, a thread that still runs, or what a sanitizer found, "
                          "such as a leak"};
}

}  // namespace davit::conformance
