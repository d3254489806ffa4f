// Election: decides who works, from what one Lease says. It stands between the cluster, where the
// Lease is read and written, and the gate. The class is told what was found and what became of each
// request, and says what to do next. Pure: the caller passes the time, so a test needs no clock.
//
// The rules are client-go's. A holder is alive as long as its entry changes within the duration
// that it has stated, measured on our own monotonic clock. Times that another machine's clock wrote
// are never compared with ours. Every write carries the resourceVersion that the decision was based
// on, so of two processes that want the Lease one is refused. The holder counts its lease from when
// its last successful renewal was sent, which is before another process can have seen that renewal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <davit/number.hpp>

namespace davit::leader {

using Time = std::chrono::nanoseconds;  // of one monotonic clock

// What a Lease says, as far as the election needs it.
struct Lease {
  std::string holder;                     // empty: nobody
  std::string renew_time;                 // as the holder wrote it; only whether it changes matters
  std::chrono::milliseconds duration{0};  // 0: the Lease states none
  int64_t transitions = 0;                // how often the holder has changed
  Epoch epoch{};                          // of the latest holder; greater than every earlier epoch
  std::string resource_version;           // empty: there is no Lease yet
};

struct Rules {
  std::chrono::milliseconds duration{15'000};        // others wait this long for a sign of life
  std::chrono::milliseconds renew_deadline{10'000};  // not renewed for this long: given up
  std::chrono::milliseconds retry{2'000};            // between two reads, or two renewals
};

struct Step {
  enum class What {
    look,   // read the Lease, then call saw or failed
    write,  // create it or change it to `lease`, then call wrote or failed
    wait,   // call next again at `until`
    lost,   // end before `until`: from then on another process may write
  };
  What what = What::wait;
  Lease lease{};          // the writer fills in its renew_time
  bool acquires = false;  // the write makes this process the holder
  Time until{0};
  std::string why{};  // lost: the reason
};

class Election {
 public:
  // No other process, not even a later one, has this `identity`.
  Election(std::string identity, Rules rules) : identity_(std::move(identity)), rules_(rules) {}

  // The next step. At most one request is under way: until it ends, the step is wait or lost.
  Step next(Time now, int64_t now_unix_ms);
  // The Lease was read. nullopt: there is no Lease.
  void saw(Time now, const std::optional<Lease>& lease);
  // The Lease was written. `lease`: as the cluster answered it.
  void wrote(Time now, const Lease& lease);
  // The request failed: refused because the Lease has changed, or not answered. An unanswered write
  // may still have been done.
  void failed(Time now);
  // What to write so that the next holder need not wait. nullopt: the Lease is not ours to give
  // back.
  std::optional<Lease> release() const;

  bool busy() const { return busy_; }
  bool leading() const { return leading_; }
  const Lease& lease() const { return lease_; }  // as it was seen last

 private:
  Step write(int64_t now_unix_ms) const;

  const std::string identity_;
  const Rules rules_;
  Lease lease_;
  bool seen_ = false;     // lease_ was read once
  bool wanted_ = false;   // lease_ is up to date, and we may write it
  Time changed_at_{0};    // when the holder's present entry was first seen
  bool leading_ = false;  // once true, it stays true
  Time renewed_at_{0};    // when the last renewal that succeeded was sent
  std::string lost_;      // the reason; empty: not lost
  bool busy_ = false;
  Time sent_at_{0};
  Time due_{0};
};

}  // namespace davit::leader
