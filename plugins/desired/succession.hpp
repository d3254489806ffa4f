// Which agents have had their place taken by another one of their region: a standby that leads now,
// a machine that replaces another. What such an agent said last is no longer so, and in the end it
// is forgotten; otherwise every name that an agent ever had would be shown for good.
//
// Epochs say who came later: the gate's, or the start of the process, which the recorder keeps
// above all that the region has heard. Pure.
#pragma once

#include <chrono>
#include <map>

#include <davit/records.hpp>

namespace davit::desired {

class Succession {
 public:
  // Two that are heard of at about the same time both do their work, whatever their epochs. An
  // agent speaks at least every 30 s, so who is replaced has missed three words.
  static constexpr std::chrono::milliseconds silence{90'000};

  // Borrowed for the life of this.
  void add(const Progress& agent) { by_region_.emplace(agent.region, &agent); }

  // An agent that came later, and that was heard of when this one was silent, names the kind.
  bool taken_over(const Progress& agent, std::string_view kind) const;
  // Every kind that this one names. One that names none (ctrl.v1) cannot be judged.
  bool taken_over(const Progress& agent) const;
  // It was last heard of before this time, and another one of the region later: the last word of a
  // region stays, and so does its greatest epoch.
  bool forgettable(const Progress& agent, int64_t seen_before_unix_ms) const;

 private:
  template <class Holds>
  bool another(const Progress& agent, Holds holds) const;

  std::multimap<std::string_view, const Progress*> by_region_;
};

}  // namespace davit::desired
