// What `davit wait --for=...` waits for, and when an object has come to it. Pure.
#pragma once

#include <chrono>
#include <string>

#include <davit/types.hpp>

#include "rollout.hpp"

namespace davit::v1 {
class ObjectStatus;
}

namespace davit::host {

struct WaitGoal {
  enum class Type {
    running,    // --for=healthy: as `davit apply --wait` of the version that it has
    deleted,    // the record is deleted, and nothing of its object is left
    version,    // --for=version=N: its agent has observed that version, or a later one
    condition,  // --for=WORD or condition=WORD: status shows the word
  };
  Type type = Type::running;
  uint64_t version = 0;
  std::string word{};

  // INVALID_ARGUMENT, with what it may be.
  static Result<WaitGoal> parse(const std::string& text);
};

// Waits for one object, by the answers to a status call. For all goals but `running`, whose Rollout
// decides.
class Awaited {
 public:
  // `version`: that the record had when it was read; 0: there was none.
  Awaited(WaitGoal goal, std::string kind, std::string region, std::string id, uint64_t version)
      : goal_(std::move(goal)),
        kind_(std::move(kind)),
        region_(std::move(region)),
        id_(std::move(id)),
        version_(version) {}

  Rollout::State see(const v1::StatusResponse& response);
  Rollout::State state() const { return state_; }
  // "deployment/d_1 (eu-1): progressing"
  const std::string& line() const { return line_; }

 private:
  Rollout::State say(Rollout::State state, const std::string& text);
  Rollout::State see_left(const v1::StatusResponse& response, const v1::ObjectStatus* object);
  Rollout::State see_object(const v1::ObjectStatus& object);
  // What keeps an agent of the region from having removed it; empty: nothing does.
  std::string kept_by(const v1::StatusResponse& response) const;

  WaitGoal goal_;
  std::string kind_, region_, id_;
  uint64_t version_;  // the newest that is known
  Rollout::State state_ = Rollout::State::waiting;
  std::string line_;
};

}  // namespace davit::host
