// A read for a caller in the process: it is answered when its op is over or the plugin stops,
// whatever the storage does meanwhile. A slot of the storage may hang, and so may the calls that
// wait for a thread of its pool. What the read brings after that is dropped.
//
// The caller's op lives until the answer, and the read may live longer. So the read has an op of
// its own. [any]
#pragma once

#include <davit/records_role.hpp>

#include "shared.hpp"

namespace davit::desired {

class TimelyRead : public std::enable_shared_from_this<TimelyRead> {
 public:
  // `shared` outlives it.
  TimelyRead(Shared& shared, const Op& caller, records::Done done)
      : shared_(shared),
        caller_(caller),
        own_(shared.operations.begin(caller.deadline_ns())),
        strand_(shared.host.strand()),
        timer_(strand_),
        done_(std::move(done)) {}

  // For the calls of the storage: has the caller's deadline, and is cancelled with the caller.
  const Operation& operation() const { return own_; }
  // From now on the op is watched. Once.
  void begin() {
    strand_.post([self = shared_from_this()] { self->watch(); });
  }
  // The first answer counts.
  void answer(Result<records::Found> found) {
    records::Done done;
    std::unique_ptr<OnCancel> of_caller, of_own;
    {
      const std::lock_guard lock(mutex_);
      done = std::exchange(done_, nullptr);
      std::swap(of_caller, of_caller_);
      std::swap(of_own, of_own_);
    }
    if (!done) return;
    of_caller.reset();  // while the caller's op lives
    of_own.reset();
    own_.cancel();
    strand_.post([self = shared_from_this()] { self->timer_.cancel(); });
    if (!found.ok() && found.error().code == Code::cancelled && shared_.operations.cancelled())
      return done(shutting_down());
    done(std::move(found));
  }

 private:
  void watch() {
    const std::lock_guard lock(mutex_);  // so that the caller's op lives
    if (!done_) return;
    if (caller_.deadline_ns() != INT64_MAX) {
      const std::chrono::nanoseconds deadline(caller_.deadline_ns());
      timer_.after(std::max(deadline - shared_.host.now(), std::chrono::nanoseconds(0)),
                   [self = shared_from_this()] {
                     self->answer(Error{Code::deadline_exceeded, "the deadline has passed"});
                   });
    }
    of_own_ = std::make_unique<OnCancel>(own_.op(), [self = shared_from_this()] {
      self->strand_.post([self] {
        self->answer(Error{Code::cancelled, "the caller has given up"});
      });
    });
    of_caller_ = std::make_unique<OnCancel>(caller_, [own = own_] { own.cancel(); });
  }

  Shared& shared_;
  const Op caller_;
  const Operation own_;
  Strand strand_;
  Timer timer_;  // on the strand

  std::mutex mutex_;
  records::Done done_;  // empty: it is answered
  std::unique_ptr<OnCancel> of_caller_, of_own_;
};

}  // namespace davit::desired
