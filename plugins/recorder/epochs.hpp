// The greatest epoch that each region's agents have spoken with. A reporter's epoch is the time of
// its start, so one whose clock was set back, or whose successor came and went, would be taken for
// one of the past, and what it says ignored; it is told instead, with every word. Pure.
#pragma once

#include <davit/records.hpp>
#include <map>

namespace davit::recorder {

class Epochs {
 public:
  // The epoch that this agent's is not above; 0: there is none.
  uint64_t taken(const Progress& said) const;
  // True: as the last time. Another server of the same store may have heard of a greater one else.
  bool known(const Progress& said) const;
  void heard(const Progress& said);
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
