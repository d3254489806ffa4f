// Shares: whose trips stand in whose way, and whose fault a refusal is. A group is what an
// admission webhook is set up for: a kind in a namespace. A trip that is out for long waits for
// something behind the API server, so it counts against its own group only; and what refuses one
// group while others are served says nothing about the API server. Pure: time comes in with every
// call. Stands between the queue and the workers, beside ConcurrencyLimit.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace davit::applier {

class Shares {
 public:
  using Time = std::chrono::nanoseconds;
  using Group = std::string;

  // A trip that is out for longer than `slow_after` is slow. `workers`: trips at once, slow ones
  // included; groups with slow trips leave half of them to the others.
  Shares(Time slow_after, size_t workers) : slow_after_(slow_after), workers_(workers) {}

  // A trip of the group begins and ends; `number` tells them apart.
  void began(const Group& group, uint64_t number, Time now);
  // The group that it was of.
  Group ended(uint64_t number);

  // How many more trips of the group may begin, where the API server may be asked `limit` at once:
  // its own trips count, and those of the others that are not slow.
  size_t room(const Group& group, size_t limit, Time now) const;
  // Whether any group has room.
  bool has_room(size_t limit, Time now) const;
  // When the next trip becomes slow; 0: none does.
  Time next_slow(Time now) const;

  // A request of the group was answered.
  void answered(const Group& group, Time now);
  // A request of the group that was sent at `sent` was refused because of overload, or not
  // answered. `webhook`: the answer says that it is one's. True: the API server is meant. False:
  // the group alone; since the request was sent at least as many groups were answered as have been
  // refused lately.
  bool refused(const Group& group, bool webhook, Time sent, Time now);

 private:
  struct Out {
    Group group;
    Time since;
  };
  struct Answers {
    Time served{-1}, refused{-1};
  };
  bool slow(const Out& out, Time now) const { return now - out.since > slow_after_; }

  const Time slow_after_;
  const size_t workers_;
  std::map<uint64_t, Out> out_;  // at most as many as there are workers
  std::map<Group, Answers> answers_;
};

}  // namespace davit::applier
