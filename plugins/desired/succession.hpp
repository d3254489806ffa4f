// Decides which agents another agent of their region has replaced: a standby that leads now, or a
// machine that took another's place. The last progress of a replaced agent is no longer true. In
// the end Maintenance forgets the agent; otherwise every name that an agent ever had would be shown
// for good.
//
// Epochs tell which agent came later. An epoch comes from the gate or from the start of the
// process, and the recorder keeps a new one above all that the region has reported. Pure.
#pragma once

#include <chrono>
#include <map>

#include <davit/records.hpp>

namespace davit::desired {

class Succession {
 public:
  // Two agents that are heard of at about the same time both work, whatever their epochs. An agent
  // sends Progress at least every 30 s, so a replaced agent has missed three.
  static constexpr std::chrono::milliseconds silence{90'000};

  // Borrows `agent` for the life of this Succession.
  void add(const Progress& agent) { by_region_.emplace(agent.region, &agent); }

  // True: an agent that came later has the kind, and was heard of while this one was silent.
  bool taken_over(const Progress& agent, std::string_view kind) const;
  // True: all kinds of this agent are taken over. An agent without kinds (ctrl.v1) cannot be
  // judged.
  bool taken_over(const Progress& agent) const;
  // True: this agent was last heard of before this time, and another one of the region, whose epoch
  // is not lower, was heard of later. So the agent that a region heard of last always stays, and so
  // does the highest epoch of the region.
  bool forgettable(const Progress& agent, int64_t seen_before_unix_ms) const;

 private:
  template <class Holds>
  bool another(const Progress& agent, Holds holds) const;

  std::multimap<std::string_view, const Progress*> by_region_;
};

}  // namespace davit::desired
