// Which agents have a row in the store. A region has a few places: agents choose their names, and
// rows are read by every look at the status and last for a month. A newcomer takes the place of the
// one of its region that has been silent for longest; when all places of the server are taken, that
// of one of another region that has been silent for an hour. Who is at work is never displaced.
// Pure.
#pragma once

#include <map>

#include <davit/records.hpp>

#include "limits.hpp"

namespace davit::recorder {

class Roster {
 public:
  // An agent speaks at least every 30 s; one that missed three words is not at work.
  static constexpr std::chrono::milliseconds silence{90'000};

  // Such a one holds nothing any more, as desired counts it by default.
  static constexpr std::chrono::hours long_silence{1};

  explicit Roster(const Limits& limits) : limits_(limits) {}

  // Who gives way, so that it can be forgotten in the store.
  struct Seat {
    std::string region, agent;
    int64_t seen_at_unix_ms = 0;
  };

  bool has(const Progress& said) const;
  // Of a newcomer: nothing when there is room, else whose place it takes. FAILED_PRECONDITION: all
  // places are taken by agents at work.
  Result<std::optional<Seat>> place_of(const Progress& newcomer) const;
  void heard(const Progress& said);
  void gone(const Seat& seat);
  // To be told again what the store has.
  void clear();

 private:
  using Agents = std::map<std::string, int64_t, std::less<>>;  // when each was heard of last
  // Who was heard of longest ago, if that was before.
  static std::optional<Seat> silent(const std::string& region, const Agents& agents,
                                    int64_t heard_before_unix_ms);
  std::optional<Seat> silent_anywhere(int64_t heard_before_unix_ms) const;

  Limits limits_;
  std::map<std::string, Agents> regions_;
  size_t count_ = 0;
};

}  // namespace davit::recorder
