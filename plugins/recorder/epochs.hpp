// The highest epoch that an agent of each region has reported with. A reporter's epoch is the time
// of its start. So an agent whose clock was set back, or whose successor came and went, would seem
// to be an older one, and the store would ignore its statuses. Each answer to such an agent's
// Progress tells it the higher epoch instead. Pure; Shared guards it.
#pragma once

#include <davit/records.hpp>
#include <map>

namespace davit::recorder {

class Epochs {
 public:
  // The highest epoch of the region if this agent's is not above it; the agent then takes the next
  // one. 0: this agent's epoch is the highest.
  Epoch taken(const Progress& said) const;
  // True: this agent already holds the highest epoch known here. False: the caller reads the store
  // again, because another server may have recorded a higher one.
  bool known(const Progress& said) const;
  void heard(const Progress& said);
  // The agent was told to rise above `taken`. The next epoch is its own from now on. No other agent
  // gets that epoch, and neither does a later process of this agent.
  void told(const Progress& said, Epoch taken);
  // A status was reported with this epoch; its agent is unknown.
  void reported(const std::string& region, Epoch epoch);
  // The least epoch above all that agents of the region have reported with; 0: none has reported.
  Epoch above(const std::string& region) const;
  // True: an agent of the region has reported. Only such regions remember the epochs of statuses,
  // so that invented regions take no memory.
  bool has(const std::string& region) const { return regions_.contains(region); }

 private:
  struct Greatest {
    Epoch epoch{};
    std::string agent;  // empty: not known yet
  };
  std::map<std::string, Greatest> regions_;
};

}  // namespace davit::recorder
