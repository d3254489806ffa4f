// What the metrics say of the agents that report to this process: how far behind each is, when it
// was heard of last, and how many objects of a region are parked, held or orphaned. It remembers
// each agent's last progress; one that is silent for long is forgotten, and its metrics with it.
// Pure: it says what to show; AgentMetrics shows it.
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

  // Beyond so many names, of all regions and of one, over the life of the process, new ones are not
  // remembered: agents choose their names, and the metrics of a name are kept for good.
  Fleet(size_t agents_max, size_t agents_a_region_max)
      : agents_max_(agents_max), agents_a_region_max_(agents_a_region_max) {}

  // The cursor that the agent had said of this kind before; nothing: it had not.
  std::optional<Cursor> applied_before(const Name& name, const std::string& kind) const;
  // False: too many.
  bool heard(const Progress& progress);
  // Forgets and names those that were last heard of before this time.
  std::vector<Name> forget(int64_t seen_before_unix_ms);

  // Issues by condition; every condition stands there, with 0 when there is none.
  using Issues = std::map<std::string, uint64_t>;
  Issues issues(const std::string& region) const;

 private:
  struct Agent {
    std::vector<KindProgress> kinds;
    Issues issues;
    int64_t seen_at_unix_ms = 0;
    bool forgotten = false;  // only its name is left
  };
  bool has_room_for(const Name& name) const;

  size_t agents_max_, agents_a_region_max_;
  std::map<Name, Agent> agents_;
};

}  // namespace davit::recorder
