// The greatest epoch that each region's agents have spoken with. A reporter's epoch is the time of
// its start, so one whose clock was set back, or whose successor came and went, would be taken for
// one of the past, and what it says ignored; it is told instead, with every word. Pure.
#pragma once

#include <davit/records.hpp>
#include <map>

namespace davit::recorder {

class Epochs {
 public:
  // The epoch that this agent's is not above, which it answers with the next one; 0: there is none.
  uint64_t taken(const Progress& said) const;
  // True: as the last time. Another server of the same store may have heard of a greater one else.
  bool known(const Progress& said) const;
  void heard(const Progress& said);
  // The agent was told to rise above this one. What it rises to is its own from now on: nobody else
  // is given it, not its next process either, whatever that process says first.
  void told(const Progress& said, uint64_t taken);
  // A status was reported with this epoch, by an agent that is not named.
  void reported(const std::string& region, uint64_t epoch);
  // The least epoch that no agent of the region has reached; 0: none has spoken.
  uint64_t above(const std::string& region) const;
  // A region that has spoken, so that made-up ones are not remembered for their statuses.
  bool has(const std::string& region) const { return regions_.contains(region); }

 private:
  struct Greatest {
    uint64_t epoch = 0;
    std::string agent;  // empty: it has not said its name yet
  };
  std::map<std::string, Greatest> regions_;
};

}  // namespace davit::recorder
