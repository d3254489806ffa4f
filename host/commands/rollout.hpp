// When `davit apply --wait` ends for one object: a decision from what a status answer says, and a
// line for people. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace davit::v1 {
class StatusResponse;
}

namespace davit::host {

class Rollout {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `version` is the one that was applied.
  Rollout(std::string kind, std::string region, std::string id, uint64_t version);

  enum class State { waiting, done, failed };
  // Done: everything that runs is of this version and as many as wanted are ready, or, when the
  // record wants nothing, nothing is left. Failed: an agent parked or holds this version, somebody
  // replaced it, or it has been unhealthy for a while (a pod that fails once may start the next
  // time).
  State see(const v1::StatusResponse& response, Time now);

  State state() const { return state_; }
  // "deployment/d_1 (eu-1): 2 of 3 updated, 1 ready, 2 of an older template remain"
  const std::string& line() const { return line_; }

 private:
  State say(State state, const std::string& text);

  std::string kind_, region_, id_;
  uint64_t version_;
  State state_ = State::waiting;
  std::string line_;
  std::optional<Time> unhealthy_since_;
};

}  // namespace davit::host
