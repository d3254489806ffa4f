// Decides what is wrong with a record (parked, held, of a kind that no agent watches, ...) and with
// a region (no agent is there, or two work there side by side). It is made once from the last
// progress of all agents. The StatusView and StatusPages then ask it about each record. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <davit/records.hpp>

#include "delayed.hpp"

namespace davit::desired {

// One agent with its lag: how many committed records of its region and kinds it has not applied.
struct Agent {
  Progress progress;
  uint64_t lag = 0;
  bool taken_over = false;  // set by Conditions
};

// What is wrong with an object or a region; empty: nothing.
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
  explicit Conditions(std::vector<Agent> agents, Delayed delayed = {});
  Conditions(Conditions&&) = default;
  Conditions& operator=(Conditions&&) = default;

  const std::vector<Agent>& agents() const { return agents_; }
  // `version`: the record's. `observed` may be NULL.
  Condition of(const Key& key, Version version, const Status* observed) const;
  // The issue of an agent that found an object of this key in the cluster without a record; NULL:
  // there is none. Valid as long as this Conditions lives.
  const Issue* orphan(const Key& key) const;
  // True: an agent is blind for the record's kind and has not reported this status since. So the
  // status may no longer be true. A status reported since then does not depend on what the agent
  // does not see.
  bool is_unseen(const Key& key, const Status* observed) const {
    return blindness(key, observed) != nullptr;
  }
  // True: the region has agents, and all of them speak ctrl.v1.
  bool only_ctrl_v1(const std::string& region) const;
  std::set<std::string> only_ctrl_v1_regions() const;
  // The condition of a region that has records.
  Condition of_region(const std::string& region, int64_t now_unix_ms) const;

 private:
  static std::string key_of(std::string_view kind, std::string_view region, std::string_view id);
  Condition watched(const Key& key) const;
  // An agent does not see a resource that a kind needs.
  struct Blindness {
    std::string reason;
    std::optional<int64_t> since_unix_ms;  // nothing: the agent does not say
  };
  const Blindness* blindness(const Key& key, const Status* observed) const;  // NULL: none counts

  std::vector<Agent> agents_;
  Delayed delayed_;
  std::unordered_map<std::string, const Issue*> issues_;  // by record; point into agents_
  std::map<std::string, std::vector<const Agent*>, std::less<>> regions_;  // agents not taken over
  std::multimap<std::pair<std::string, std::string>, Blindness> blind_;    // by kind and region
};

}  // namespace davit::desired
