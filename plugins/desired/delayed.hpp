// What kinds cannot answer now on this server, and what that means for a record: the record waits
// for its kind, its stream waits for another record of its kind, or its reports wait. Made once for
// an answer, from what the plugins of the process have noted (davit/delays.hpp). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <davit/delays.hpp>

namespace davit::desired {

class Delayed {
 public:
  Delayed() = default;
  explicit Delayed(const std::vector<Delay>& delays);

  // Why the record is delayed; nothing: it is not. `has_it`: its agents have this version. `krane`:
  // all of them speak ctrl.v1.
  std::optional<std::string> why(const Key& key, Version version, bool has_it, bool krane) const;
  // Why reports of the region wait of which no record is known; nothing: none does.
  std::optional<std::string> why(const std::string& region) const;

  // "since 2026-11-24T20:00:00.000Z: kind widget: its process is starting"
  static std::string text(int64_t since_unix_ms, const std::string& reason);

 private:
  std::optional<std::string> why_not_sent(const Key& key, Version version,
                                          const std::string& stage) const;

  using Stream = std::pair<std::pair<std::string, std::string>, std::string>;
  static Stream stream_of(const Key& key, const std::string& stage) {
    return {{key.kind, key.region}, stage};
  }
  std::map<std::pair<Key, std::string>, Delay> records_;  // by key and stage
  std::map<Stream, Delay> first_;                         // of a stream: the lowest version
  std::map<std::string, Delay> regions_;                  // reports of unknown records
};

}  // namespace davit::desired
