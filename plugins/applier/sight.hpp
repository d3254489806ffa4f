// Sight: decides whether the contents of one watch can be trusted. It stands between a kind's
// watches and the parts that report statuses, delete or prune. A watch is trusted from its first
// complete list on, for as long as it goes on, and for `patience` after it is cut. When the API
// server refuses the watch, or a cut or an incomplete list lasts longer than `patience`, the agent
// is blind for the resource until the list is complete again. Pure: the caller passes the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace davit::applier {

class Sight {
 public:
  using Time = std::chrono::nanoseconds;
  struct Moment {
    Time at{0};           // of the monotonic clock
    int64_t unix_ms = 0;  // the same moment, for people
  };

  explicit Sight(Time patience) : patience_(patience) {}

  // The watch is opened. It has shown nothing yet.
  void begin(Moment now);
  // The API server refuses the watch.
  void refused(std::string why, Moment now);
  // The connection is lost or cannot be made.
  void cut(std::string why, Moment now);
  // The contents are void. The watch is listing them anew.
  void restarted(Moment now);
  // The watch has shown an object. If its list was complete, it is not listing anew, and it was not
  // refused, it goes on from where it was. A refused one may be that of one namespace of several,
  // while the object is of another.
  void event();
  // The list is complete.
  void synced();
  // Trouble that has lasted for `patience` makes the agent blind.
  void expire(Time now);

  bool trusted() const { return whole_ && !blind_; }
  bool blind() const { return blind_; }
  // Since the list was complete last.
  bool was_refused() const { return refused_; }
  // While blind: "since 2026-11-24T20:00:00.000Z: WHY", with the time at which the trouble began.
  // Otherwise empty.
  std::string reason() const;
  // When expire may change something; nullopt: not before another call does.
  std::optional<Time> due() const;

 private:
  void trouble(std::string why, Moment now);
  void clear() { troubled_ = blind_ = refused_ = false; }

  Time patience_;
  bool whole_ = false;       // a list was complete once, though it may be old
  bool restarting_ = false;  // it is being listed anew
  bool troubled_ = false;
  bool blind_ = false;
  bool refused_ = false;
  Moment since_;  // when the trouble began
  std::string why_;
};

}  // namespace davit::applier
