// What a peer may make the recorder keep: agents choose their own names, kinds, issues and numbers,
// and one of them must not stop the others. README.md lists the settings.
#pragma once

#include <davit/status_size.hpp>
#include <davit/turns.hpp>

namespace davit::recorder {

struct Limits {
  size_t agents = 10'000;      // of all regions
  size_t agents_a_region = 8;  // one, a standby or two, and those whose machines have gone
  size_t issues = 2000;        // of one agent; what is above is left out and counted
  size_t statuses = 10'000;    // of one call
  // Nested in one call: two bytes on the wire are hundreds in memory.
  size_t messages = 100'000;
  size_t statuses_at_once = 32;    // of one call, in one transaction of the store
  size_t issue_bytes = 256 << 10;  // of one agent; what is above is left out and counted
  TurnLimits turns;
  StatusSize status;  // what is above is cut
  std::chrono::milliseconds epoch_ahead{std::chrono::hours(24 * 3650)};
};

// Whether an epoch can be a time of this world, as seen from this server. One of the far future
// would make all that others say ignored for ever.
inline bool plausible_epoch(uint64_t epoch, int64_t now_unix_ms, std::chrono::milliseconds ahead) {
  // A server whose clock is not set yet has not the right to judge: this is the year 2033.
  constexpr int64_t surely = 2'000'000'000'000;
  return epoch <= static_cast<uint64_t>(std::max(now_unix_ms + ahead.count(), surely));
}

}  // namespace davit::recorder
