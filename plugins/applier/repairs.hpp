// Repairs: decides how soon an object that somebody keeps changing is repaired again, and what
// people are told of it. The first repair is immediate. Each following one waits longer, until
// nobody has changed the object for a while. Pure: the caller passes time and randomness. Each
// entry has one, and each reconciliation gets a copy.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <davit/backoff.hpp>

namespace davit::applier {

// One repair: the object's path, its name for people, and who had changed it.
struct Repair {
  std::string path, object, by;
};

class Repairs {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    Backoff::Limits wait{std::chrono::milliseconds(100), std::chrono::milliseconds(60'000)};
    std::chrono::milliseconds quiet{
        300'000};  // when nobody changes the object for this long, its repairs are forgotten
    uint32_t warn_after = 5;  // repairs in a row
  };

  // An object was repaired at `now`.
  void note(const Repair& repair, const Limits& limits, Time now, uint64_t random);
  // How long the object's next repair has to wait; 0: not at all.
  Time wait(const std::string& path, Time now) const;
  // Forgets objects that nobody has changed for `limits.quiet`.
  void forget(const Limits& limits, Time now);
  // Says who keeps changing which object, for people. The text stays the same while it is the same
  // writer. Empty: nobody does.
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
