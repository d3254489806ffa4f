#include "delayed.hpp"

#include <davit/rfc3339.hpp>

namespace davit::desired {

Delayed::Delayed(const std::vector<Delay>& delays) {
  for (const Delay& d : delays) {
    if (d.key.id.empty()) {
      const auto [at, first] = regions_.try_emplace(d.key.region, d);
      if (!first && d.since_unix_ms < at->second.since_unix_ms) at->second = d;
      continue;
    }
    // Several plugins, or several stages of one, may wait for the record: the earliest counts.
    const auto [at, first] = records_.try_emplace({d.key, d.stage}, d);
    if (!first && d.since_unix_ms < at->second.since_unix_ms) at->second = d;
    if (d.stage == Delay::report) continue;
    const auto [stream, first_of_it] = first_.try_emplace(stream_of(d.key, d.stage), d);
    if (!first_of_it && d.version < stream->second.version) stream->second = d;
  }
}

std::string Delayed::text(int64_t since_unix_ms, const std::string& reason) {
  return "since " + rfc3339(since_unix_ms) + ": " + reason;
}

std::optional<std::string> Delayed::why(const Key& key, Version version, bool has_it,
                                        bool krane) const {
  if (!has_it) {
    if (auto why = why_not_sent(key, version, Delay::stream)) return why;
    if (krane) {
      if (auto why = why_not_sent(key, version, Delay::ctrl_v1)) return why;
    }
  }
  const auto report = records_.find({key, Delay::report});
  if (report == records_.end()) return std::nullopt;
  const Delay& d = report->second;
  return text(d.since_unix_ms, d.reason + " (its reports wait)");
}

// A stream names records in the order of their versions, and waits at the first.
std::optional<std::string> Delayed::why_not_sent(const Key& key, Version version,
                                                 const std::string& stage) const {
  if (const auto own = records_.find({key, stage}); own != records_.end())
    return text(own->second.since_unix_ms, own->second.reason);
  const auto first = first_.find(stream_of(key, stage));
  if (first == first_.end() || version <= first->second.version) return std::nullopt;
  const Delay& d = first->second;
  return text(d.since_unix_ms, d.reason + " (it waits behind " + d.key.id + ")");
}

std::optional<std::string> Delayed::why(const std::string& region) const {
  const auto found = regions_.find(region);
  if (found == regions_.end()) return std::nullopt;
  const Delay& d = found->second;
  return text(d.since_unix_ms, d.reason + " (reports wait)");
}

}  // namespace davit::desired
