// ConcurrencyLimit: how many objects are worked on at once, learned from the API server's answers.
// It stands between the queue and the workers. The limit grows while all of it is in use and
// answers take about as long as under light load. It shrinks gently, to its first value, when
// answers take much longer, because then a queue has formed in the API server. It shrinks at once,
// down to 1, when the API server reports overload or does not answer. Pure: the caller passes the
// time.
//
// Latencies are compared within one verb and resource only: a create that passes admission webhooks
// is no slow delete. The comparison uses medians, so a few answers that take ten times as long
// (there are always some) change nothing.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

#include <davit/cluster.hpp>

namespace davit::controller {

// The API server is overloaded, or nobody answered: fewer requests may be sent. A plain 500 does
// not count, because one object's webhook may fail for ever.
bool overloaded(const cluster::Response& response);

class ConcurrencyLimit {
 public:
  using Time = std::chrono::nanoseconds;

  // The limit lies between 1 and `most`. It begins with 16, or with `most` if that is less.
  explicit ConcurrencyLimit(size_t most);

  // A request was answered. `like`: its verb and resource. `under_way`: how many requests were
  // under way, this one included.
  void answered(const std::string& like, Time took, size_t under_way, Time now);
  // A request that was sent at `sent` was refused because of overload, or not answered at all.
  void overloaded(Time sent, Time retry_after, Time now);

  size_t value() const { return limit_; }
  // Nothing may be sent before this time: the API server has asked for a pause.
  Time paused_until() const { return paused_until_; }

 private:
  // Medians for one verb and resource, in nanoseconds. They forget: each answer moves them by a
  // small step towards itself, however far away it is.
  struct Latency {
    size_t answers = 0;
    double recent = 0;
    double light = 0;  // under light load, or the lowest value of `recent`
    // Returns how many times as long answers take as under light load.
    double add(double took, bool lightly_loaded);
  };
  void judge(Time now);
  void grow(Time now);
  void begin_round();

  const size_t most_;
  size_t limit_;
  // The limit grows fast up to the ceiling, and by one at a time above it. The ceiling is three
  // quarters of the limit that was too much last.
  size_t ceiling_;
  std::unordered_map<std::string, Latency> latencies_;

  // A round: as many answers as requests may be under way, and at least 16.
  size_t answers_ = 0;
  size_t answers_in_full_use_ = 0;
  double slowdowns_ = 0;          // the sum over the round
  bool round_completed_ = false;  // since the last overload

  Time shrunk_at_{-1};  // because of overload
  Time grown_at_{0};
  Time paused_until_{0};
};

}  // namespace davit::controller
