// The agents that report to this process, for the metrics: how far behind each one is, when it was
// heard of last, and how many objects of a region are parked, held or orphaned. The Fleet remembers
// each agent's last progress. An agent that is silent for long is forgotten, and its metrics with
// it. Pure: the Fleet decides what to show, and AgentMetrics shows it.
#pragma once

#include <map>

#include <davit/records.hpp>

namespace davit::recorder {

class Fleet {
 public:
  struct Name {
    std::string region, agent;
    auto operator<=>(const Name&) const = default;
    bool operator==(const Name&) const = default;
  };

  // The limits count names over the life of the process, in all regions and in one. Above a limit
  // new names are not remembered: agents choose their names, and the metrics of a name stay for
  // good.
  Fleet(size_t agents_max, size_t agents_a_region_max)
      : agents_max_(agents_max), agents_a_region_max_(agents_a_region_max) {}

  // The cursor of this kind in the agent's last progress; nothing: it had none.
  std::optional<Cursor> applied_before(const Name& name, const std::string& kind) const;
  // False: too many names, so the progress is not remembered.
  bool heard(const Progress& progress);
  // Forgets the agents that were last heard of before this time, and returns them.
  std::vector<Name> forget(int64_t seen_before_unix_ms);

  // The number of issues by condition. Every condition of the contract is there, with 0 if it has
  // none.
  using Issues = std::map<std::string, uint64_t>;
  Issues issues(const std::string& region) const;

 private:
  struct Agent {
    std::vector<KindProgress> kinds;
    Issues issues;
    int64_t seen_at_unix_ms = 0;
    bool forgotten = false;  // only the name is left
  };
  bool has_room_for(const Name& name) const;

  size_t agents_max_, agents_a_region_max_;
  std::map<Name, Agent> agents_;
};

}  // namespace davit::recorder
