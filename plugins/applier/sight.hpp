// Sight: whether what one watch has shown may be spoken of. It may from the first whole picture on,
// for as long as the watch goes on, and a little longer when it is cut. When the API server refuses
// the watch, or a cut lasts longer than `patience`, the agent is blind there, until the picture is
// whole again. Pure: time comes in with the calls. Stands between a kind's watches and whoever
// tells statuses or deletes.
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
    int64_t unix_ms = 0;  // the same, for people
  };

  explicit Sight(Time patience) : patience_(patience) {}

  // The watch is opened: nothing has been shown yet.
  void begin(Moment now);
  // The API server answers and says no.
  void refused(std::string why, Moment now);
  // The connection is lost, or cannot be made.
  void cut(std::string why, Moment now);
  // What was known is void; it is being shown again.
  void restarted(Moment now);
  // An object was shown: a picture that was whole goes on from where it was.
  void event();
  // The picture is whole.
  void synced();
  // What has lasted longer than the patience is blindness.
  void expire(Time now);

  bool trusted() const { return whole_ && !blind_; }
  bool blind() const { return blind_; }
  // While blind: "since 2026-11-24T20:00:00.000Z: WHY"; the time is the last at which it saw.
  std::string reason() const;
  // When expire may change something; nullopt: not before something else happens.
  std::optional<Time> due() const;

 private:
  void trouble(std::string why, Moment now);
  void clear() { troubled_ = blind_ = false; }

  Time patience_;
  bool whole_ = false;       // a picture has been shown, though it may be old
  bool restarting_ = false;  // it is being shown anew
  bool troubled_ = false;
  bool blind_ = false;
  Moment since_;  // when the trouble began
  std::string why_;
};

// A time in RFC 3339, UTC, with milliseconds.
std::string rfc3339(int64_t unix_ms);

}  // namespace davit::applier
