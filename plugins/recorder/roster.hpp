// Decides which agents have a place, that is, a row in the store. Agents choose their names, every
// read of the status reads all rows, and a row stays for a month. So a region has few places. When
// they are taken, a newcomer takes the place of the agent of its region that has been silent for
// longest. When all places of the server are taken, it may also take that of an agent of another
// region that has been silent for an hour. An agent at work is never displaced. Pure.
#pragma once

#include <map>

#include <davit/records.hpp>

#include "limits.hpp"

namespace davit::recorder {

class Roster {
 public:
  // An agent sends Progress at least every 30 s. One that missed three is not at work.
  static constexpr std::chrono::milliseconds silence{90'000};

  // An agent that is silent for so long no longer holds the purge, by the default of the plugin
  // `desired`.
  static constexpr std::chrono::hours long_silence{1};

  explicit Roster(const Limits& limits) : limits_(limits) {}

  // An agent that gives way. The caller forgets it in the store.
  struct Seat {
    std::string region, agent;
    int64_t seen_at_unix_ms = 0;
  };

  bool has(const Progress& said) const;
  // For an agent without a place: nothing when there is room, else the agent whose place it takes.
  // FAILED_PRECONDITION: agents at work have all places.
  Result<std::optional<Seat>> place_of(const Progress& newcomer) const;
  // True: the agent has said something newer. A request that waited on its way comes late.
  bool is_late(const Progress& said) const;
  void heard(const Progress& said);
  void gone(const Seat& seat);
  // These are the agents now, as the store has them. The store keeps no sequences, so what the
  // agents said last stays known of those that are still there.
  void replace(const std::vector<Progress>& stored);

 private:
  struct Place {
    int64_t seen_at_unix_ms = 0;
    std::pair<Epoch, uint64_t> newest{};  // epoch and sequence of what it said last
  };
  using Agents = std::map<std::string, Place, std::less<>>;
  const Place* find(const Progress& said) const;
  // The agent that was heard of longest ago, if that was before the given time.
  static std::optional<Seat> silent(const std::string& region, const Agents& agents,
                                    int64_t heard_before_unix_ms);
  std::optional<Seat> silent_anywhere(int64_t heard_before_unix_ms) const;

  Limits limits_;
  std::map<std::string, Agents> regions_;
  size_t count_ = 0;
};

}  // namespace davit::recorder
