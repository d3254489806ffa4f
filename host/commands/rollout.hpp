// Decides when `davit apply --wait` or `davit delete --wait` ends for one object, from the answers
// to a status call, and describes the progress in a line for people. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace davit::v1 {
class Status;
class StatusResponse;
}  // namespace davit::v1

namespace davit::host {

class Rollout {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `version` is the version that was applied, `incarnation` the one of the store in which it was
  // given.
  Rollout(std::string kind, std::string region, std::string id, uint64_t version,
          uint64_t incarnation);

  enum class State { waiting, done, failed };
  // Done: everything that runs is of this version and as many are ready as the record wants. If the
  // record wants nothing: nothing is left, and no agent of the region has yet to apply the version.
  // Failed: an agent reports an issue with this version (delayed aside), a later change replaced
  // it, the store was restored and has lost it, the store no longer has the record and cannot say
  // why, or it has been unhealthy for 10 s. A pod that fails once may start the next time.
  State see(const v1::StatusResponse& response, Time now);

  State state() const { return state_; }
  // "deployment/d_1 (eu-1): 2 of 3 updated, 1 ready, 2 of an older template remain"
  const std::string& line() const { return line_; }

 private:
  State say(State state, const std::string& text);
  // What has become of the version in the store that answers.
  enum class Fate { kept, lost, unknown };
  Fate fate_in(const v1::StatusResponse& response) const;
  State see_absent(Fate fate, bool applied);
  // No agent of the region that watches the kind has yet to come to the version, or has an issue
  // with the object.
  bool applied_in(const v1::StatusResponse& response) const;
  State see_pods(const v1::Status& seen, Time now);

  std::string kind_, region_, id_;
  uint64_t version_;
  uint64_t incarnation_;  // the last one in which the store had the version
  State state_ = State::waiting;
  std::string line_;
  std::optional<Time> unhealthy_since_;
};

}  // namespace davit::host
