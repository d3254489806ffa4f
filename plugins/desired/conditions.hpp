// What is wrong, as far as agents tell: with a record (parked, held, of a kind that nobody watches)
// and with a region (no agent is there, or two that do not know of each other). Made once of what
// all agents said last, then asked for each record. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <davit/records.hpp>

namespace davit::desired {

// One agent, and how many committed records of its region and kinds it has not applied yet.
struct Agent {
  Progress progress;
  uint64_t lag = 0;
  bool taken_over = false;  // Conditions finds out
};

// Of an object or a region; empty: nothing is wrong.
struct Condition {
  std::string word, reason;
};

class Conditions {
 public:
  static constexpr const char* unwatched = "unwatched";
  static constexpr const char* unattended = "unattended";
  static constexpr const char* contended = "contended";
  static constexpr const char* retrying = "retrying";

  Conditions() = default;
  explicit Conditions(std::vector<Agent> agents);
  Conditions(Conditions&&) = default;
  Conditions& operator=(Conditions&&) = default;

  const std::vector<Agent>& agents() const { return agents_; }
  // `observed` may be NULL.
  Condition of(const Key& key, const Status* observed) const;
  // What an agent found in the cluster of a key that no record names; NULL: nothing. As long as
  // this lives.
  const Issue* orphan(const Key& key) const;
  // Whether an agent does not see the record's kind since before it told this status: what it said
  // is not known to hold. A status that was told since then does not depend on what is not seen.
  bool is_unseen(const Key& key, const Status* observed) const {
    return blindness(key, observed) != nullptr;
  }
  // All agents of the region speak ctrl.v1.
  bool only_ctrl_v1(const std::string& region) const;
  // Of those that have agents.
  std::set<std::string> only_ctrl_v1_regions() const;
  // Of a region that has records.
  Condition of_region(const std::string& region, int64_t now_unix_ms) const;

 private:
  static std::string key_of(std::string_view kind, std::string_view region, std::string_view id);
  Condition watched(const Key& key) const;
  // What an agent does not see of a kind.
  struct Blindness {
    std::string reason;
    std::optional<int64_t> since_unix_ms;  // nothing: it does not say
  };
  const Blindness* blindness(const Key& key, const Status* observed) const;  // NULL: it is seen

  std::vector<Agent> agents_;
  std::unordered_map<std::string, const Issue*> issues_;                   // by record; of agents_
  std::map<std::string, std::vector<const Agent*>, std::less<>> regions_;  // not taken over
  std::multimap<std::pair<std::string, std::string>, Blindness> blind_;    // by kind and region
};

}  // namespace davit::desired
