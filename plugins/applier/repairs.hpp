// Repairs: how soon an object of a record is put right again that somebody keeps changing, and what
// people are told of it. The first repair is immediate; each next one waits longer, until nobody
// has changed the object for a while. Pure: time and randomness come in with the calls. The slot
// has one, a trip gets a copy.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <davit/backoff.hpp>

namespace davit::applier {

// One repair: the object's path, what it is called, and who had changed it.
struct Repair {
  std::string path, object, by;
};

class Repairs {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    Backoff::Limits wait{std::chrono::milliseconds(100), std::chrono::milliseconds(60'000)};
    std::chrono::milliseconds quiet{300'000};  // nobody changes it for so long: all is forgotten
    uint32_t warn_after = 5;                   // repairs in a row
  };

  // An object was put right at `now`.
  void note(const Repair& repair, const Limits& limits, Time now, uint64_t random);
  // How long an object's next repair has to wait; 0: not at all.
  Time wait(const std::string& path, Time now) const;
  // Forgets what nobody has changed for long enough.
  void forget(const Limits& limits, Time now);
  // For people, if somebody keeps changing an object; the same text as long as it is the same
  // somebody. Empty: nobody does.
  std::string contested(const Limits& limits) const;
  bool empty() const { return by_path_.empty(); }

 private:
  struct Fight {
    Backoff backoff;
    Time last{0}, not_before{0};
    std::string object, by;
  };
  std::map<std::string, Fight> by_path_;
};

}  // namespace davit::applier
