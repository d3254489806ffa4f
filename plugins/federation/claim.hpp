// Claim: whether another cluster goes by the name of this robot, too. There is a Lease upstream
// that names the cluster which claimed the name last, and nobody renews it. Who starts claims the
// name. Who loses it while it runs claims it back, so each of two that run hears of the other; and
// as both wait longer each time, they keep nobody busy. A robot that was installed anew takes the
// name over from one that is gone. Pure: the caller passes time and randomness.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <davit/backoff.hpp>

namespace davit::federation {

class Claim {
 public:
  using Time = std::chrono::nanoseconds;

  // `own`: the identity of this cluster.
  explicit Claim(std::string own) : own_(std::move(own)) {}

  // Whom the Lease names. nullopt: there is none.
  void seen(const std::optional<std::string>& holder, Time now, uint64_t random);
  // The attempt to claim has failed, or its answer has not been seen.
  void failed(Time now, uint64_t random);
  // When to claim the name; nullopt: it is not to be claimed.
  std::optional<Time> due() const { return due_; }
  // Who else goes by this name. Empty: nobody, as far as is known.
  std::string rival(Time now) const;
  // When rival() may change by itself.
  std::optional<Time> quiet_at() const;

 private:
  const std::string own_;
  bool claimed_ = false;
  std::string rival_;
  Time rival_at_{0};
  std::optional<Time> due_;
  Backoff back_{{std::chrono::seconds(1), std::chrono::minutes(5)}};
  Backoff again_{{std::chrono::seconds(1), std::chrono::seconds(30)}};
};

// The name of the Lease of a robot: a DNS name, whatever the robot is called.
std::string lease_name(const std::string& robot_name);

}  // namespace davit::federation
