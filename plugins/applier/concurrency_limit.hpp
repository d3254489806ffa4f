// ConcurrencyLimit: how many records are worked on at once, learned from the API server's answers.
// It grows while all of it is in use and answers take about as long as they do under light load,
// shrinks gently, to its first value, when they take much longer (a queue has formed in there), and
// at once, down to 1, when the server says that it is overloaded or does not answer. Pure: time
// comes in with every call. Stands between the queue and the workers.
//
// Latencies are compared with those of their like only: a create that passes admission webhooks is
// no slow delete. What is compared are medians, so that a few answers that take ten times as long
// (there are always some) change nothing.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

namespace davit::applier {

class ConcurrencyLimit {
 public:
  using Time = std::chrono::nanoseconds;

  // Between 1 and `most`; begins with 16 or `most`, if that is less.
  explicit ConcurrencyLimit(size_t most);

  // A request was answered. `like`: its verb and resource; `under_way`: how many were, with it.
  void answered(const std::string& like, Time took, size_t under_way, Time now);
  // A request that was sent at `sent` was refused because of overload, or not answered at all.
  void overloaded(Time sent, Time retry_after, Time now);

  size_t value() const { return limit_; }
  // Nothing may be sent before: the server asked for it.
  Time paused_until() const { return paused_until_; }

 private:
  // Medians of one verb and resource, in nanoseconds, that forget: each answer moves them by a
  // small step towards itself, however far away it is.
  struct Latency {
    size_t answers = 0;
    double recent = 0;
    double light = 0;  // under light load, or the least that `recent` has been
    // How many times as long as under light load.
    double add(double took, bool lightly_loaded);
  };
  void judge(Time now);
  void grow(Time now);
  void begin_round();

  const size_t most_;
  size_t limit_;
  // What is approached fast; above it one by one. Three quarters of what was too much last.
  size_t ceiling_;
  std::unordered_map<std::string, Latency> latencies_;

  // A round: as many answers as there may be requests under way.
  size_t answers_ = 0;
  size_t answers_in_full_use_ = 0;
  double slowdowns_ = 0;          // their sum
  bool round_completed_ = false;  // since it shrank because of overload

  Time shrunk_at_{-1};  // because of overload
  Time grown_at_{0};
  Time paused_until_{0};
};

}  // namespace davit::applier
