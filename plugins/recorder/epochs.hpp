// The greatest epoch that each region's agents have spoken with. A reporter's epoch is the time of
// its start, so one whose clock was set back would be taken for one of the past, and what it says
// ignored; it is told instead. Pure.
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

 private:
  struct Greatest {
    uint64_t epoch = 0;
    std::string agent;
  };
  std::map<std::string, Greatest> regions_;
};

}  // namespace davit::recorder
