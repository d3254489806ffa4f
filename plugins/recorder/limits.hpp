// Limits on what the recorder takes and keeps of its peers. Agents choose their names, kinds,
// issues and numbers, and one agent must not stop the others. README.md lists the settings.
#pragma once

#include <davit/status_size.hpp>
#include <davit/turns.hpp>

namespace davit::recorder {

struct Limits {
  size_t agents = 10'000;      // of all regions
  size_t agents_a_region = 8;  // one, its standbys, and those whose machines are gone
  size_t issues = 2000;        // of one agent; more are left out and counted
  size_t statuses = 10'000;    // of one call
  // Nested in one call: two bytes on the wire become hundreds in memory.
  size_t messages = 100'000;
  size_t statuses_at_once = 32;    // of one call, in one transaction of the store
  size_t issue_bytes = 256 << 10;  // of one agent; issues above it are left out and counted
  TurnLimits turns;
  StatusSize status;  // a larger status is cut
  std::chrono::milliseconds epoch_ahead{std::chrono::hours(24 * 3650)};
};

// True: the epoch is not too far ahead of this server's time. The store would ignore the statuses
// of all other agents for ever after an epoch of the far future.
inline bool plausible_epoch(Epoch epoch, int64_t now_unix_ms, std::chrono::milliseconds ahead) {
  // May 2033. An epoch up to here always passes, because this server's clock may not be set yet.
  constexpr int64_t surely = 2'000'000'000'000;
  return epoch <= Epoch(static_cast<uint64_t>(std::max(now_unix_ms + ahead.count(), surely)));
}

}  // namespace davit::recorder
