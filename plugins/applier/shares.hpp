// Shares: keeps slow and refused requests of one group from holding up the others. It stands
// between the queue and the workers, beside ConcurrencyLimit. A group is one kind in one namespace,
// which is what admission webhooks are set up for. A reconciliation that is out for long waits for
// something behind the API server, so it counts against its own group only. A refusal of one group
// while others are served says nothing about the API server. Pure: the caller passes the time.
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

  // A reconciliation that is out for longer than `slow_after` is slow. `workers` is the most
  // reconciliations at once, slow ones included. Groups with slow reconciliations leave half of the
  // workers to the others.
  Shares(Time slow_after, size_t workers) : slow_after_(slow_after), workers_(workers) {}

  // A reconciliation of the group begins. `number` identifies the reconciliation.
  void began(const Group& group, uint64_t number, Time now);
  // The reconciliation ends. Returns its group.
  Group ended(uint64_t number);

  // How many more reconciliations of the group may begin while the API server may be asked `limit`
  // requests at once. The group's own reconciliations count, and those of other groups that are not
  // slow.
  size_t room(const Group& group, size_t limit, Time now) const;
  // Whether a group without slow reconciliations has room.
  bool has_room(size_t limit, Time now) const;
  // When the next reconciliation becomes slow; 0: none does.
  Time next_slow(Time now) const;

  // A request of the group was answered.
  void answered(const Group& group, Time now);
  // A request of the group that was sent at `sent` was refused because of overload, or not
  // answered. `webhook`: the answer names a webhook. True: the refusal concerns the API server.
  // False: it concerns the group alone, because a webhook is named or because at least as many
  // groups were served since `sent` as have been refused lately.
  bool refused(const Group& group, bool webhook, Time sent, Time now);
  // Groups whose last answers are remembered: those that were answered lately, or while something
  // was out that still is. Twice as many at most.
  size_t groups() const { return answers_.size(); }

 private:
  struct Out {
    Group group;
    Time since;
  };
  struct Answers {
    Time served{-1}, refused{-1};
  };
  bool slow(const Out& out, Time now) const { return now - out.since > slow_after_; }
  static bool is_refused(const Answers& a, Time now);
  Answers& answers_of(const Group& group, Time now);

  const Time slow_after_;
  const size_t workers_;
  std::map<uint64_t, Out> out_;  // at most as many as there are workers
  std::map<Group, Answers> answers_;
  size_t groups_max_ = 64;  // at this number the old ones are forgotten
};

}  // namespace davit::applier
