// One operation on behalf of several callers, whose requests go together into one call of a
// storage. A call must not be cut for some while others still wait for it: so the latest deadline
// holds, and the operation is cancelled when all have given up.
#pragma once

#include <davit/operation.hpp>

namespace davit::host {

class JointOperation {
 public:
  // The deadline of a caller that has none is `longest` from now. The callers' ops outlive this
  // object.
  JointOperation(const std::vector<Op>& callers, std::chrono::nanoseconds longest)
      : own_(latest(callers, longest)), waiting_(callers.size()) {
    watches_.reserve(callers.size());
    for (const Op& caller : callers) {
      watches_.emplace_back(caller, [this] {
        if (--waiting_ == 0) own_.cancel();
      });
    }
  }
  JointOperation(const JointOperation&) = delete;
  JointOperation& operator=(const JointOperation&) = delete;

  Op op() const { return own_.op(); }

 private:
  static int64_t latest(const std::vector<Op>& callers, std::chrono::nanoseconds longest) {
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    int64_t out = 0;
    for (const Op& caller : callers) {
      const int64_t deadline = caller.deadline_ns();
      out = std::max(out, deadline == INT64_MAX ? (now + longest).count() : deadline);
    }
    return out;
  }

  const Operation own_;
  std::atomic<size_t> waiting_;
  std::vector<OnCancel> watches_;  // ends first
};

}  // namespace davit::host
