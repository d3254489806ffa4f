// Election: who works, by what one Lease says. Stands between the cluster, which is asked and
// written to, and the gate. Pure: it is shown what was found and what became of each request, and
// says what to do next; a test needs no clock.
//
// The rules are client-go's. A holder is judged by whether his record goes on changing within the
// duration he has stated, on our own monotonic clock: what another machine's clock wrote is never
// compared with ours. Every write carries the resourceVersion it was decided on, so that of two who
// want the Lease one is refused. Whoever holds it counts from when his last successful renewal was
// sent, which is before anybody else can have seen it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace davit::leader {

using Time = std::chrono::nanoseconds;  // of one monotonic clock

// What a Lease says, as far as the election goes.
struct Lease {
  std::string holder;                     // empty: nobody
  std::string renew_time;                 // as the holder wrote it; only whether it changes counts
  std::chrono::milliseconds duration{0};  // 0: it does not say
  int64_t transitions = 0;                // how often the holder has changed
  uint64_t epoch = 0;            // of the latest holder; greater than that of everybody before him
  std::string resource_version;  // empty: it is not there yet
};

struct Rules {
  std::chrono::milliseconds duration{15'000};        // others wait so long for a sign of life
  std::chrono::milliseconds renew_deadline{10'000};  // not renewed for so long: it is given up
  std::chrono::milliseconds retry{2'000};            // between two looks, or two renewals
};

struct Step {
  enum class What {
    look,   // read the Lease, then say saw or failed
    write,  // make or change it to `lease`, then say wrote or failed
    wait,   // ask again at `until`
    lost,   // end before `until`: somebody else may write from then on
  };
  What what = What::wait;
  Lease lease{};          // its renew_time is the writer's to fill in
  bool acquires = false;  // the write makes us the holder
  Time until{0};
  std::string why{};  // of lost
};

class Election {
 public:
  // `identity` is nobody else's, in no other process.
  Election(std::string identity, Rules rules) : identity_(std::move(identity)), rules_(rules) {}

  // At most one request is under way: until its end this says wait, or lost.
  Step next(Time now, int64_t now_unix_ms);
  // None: there is no Lease.
  void saw(Time now, const std::optional<Lease>& lease);
  // As the cluster answered it.
  void wrote(Time now, const Lease& lease);
  // Refused because it has changed, or no answer: it may have been done all the same.
  void failed(Time now);
  // What to write so that the next one need not wait. None: it is not ours to give.
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
  bool wanted_ = false;   // lease_ is as it stands, and ours to write
  Time changed_at_{0};    // when the holder's record was first seen as it is
  bool leading_ = false;  // and from then on until it is lost
  Time renewed_at_{0};    // when the last renewal that succeeded was sent
  std::string lost_;      // why
  bool busy_ = false;
  Time sent_at_{0};
  Time due_{0};
};

}  // namespace davit::leader
