#include "rollout.hpp"

#include <algorithm>

#include <davit/v1/operator.pb.h>

namespace davit::host {

namespace {

constexpr std::chrono::seconds patience_with_unhealthy{10};

std::string count(int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what;
}

bool any_agent(const v1::StatusResponse& response, const std::string& region) {
  return std::any_of(response.agents().begin(), response.agents().end(),
                     [&](const auto& agent) { return agent.region() == region; });
}

bool only_ctrl_v1(const v1::StatusResponse& response, const std::string& region) {
  return std::all_of(response.agents().begin(), response.agents().end(), [&](const auto& agent) {
    return agent.region() != region || agent.software() == "ctrl.v1";
  });
}

// Why no agent has reported this version yet, as far as the region's agents show.
std::string not_seen(const v1::StatusResponse& response, const v1::ObjectStatus& object) {
  if (object.condition() == "unwatched") return object.reason();
  if (!any_agent(response, object.region())) return "no agent of the region has reported yet";
  return only_ctrl_v1(response, object.region())
             ? "not reported yet; agents that speak ctrl.v1 do not report every kind"
             : "not applied yet";
}

// Agents that speak ctrl.v1 report no version. From them, any report after the commit counts.
bool seen_since(const v1::StatusResponse& response, const v1::ObjectStatus& object,
                uint64_t version) {
  const auto& seen = object.observed();
  if (!object.has_observed() || seen.observed_version() >= version) return object.has_observed();
  return seen.observed_version() == 0 && only_ctrl_v1(response, object.region()) &&
         seen.reported_at_unix_ms() > object.committed_at_unix_ms();
}

}  // namespace

Rollout::Rollout(std::string kind, std::string region, std::string id, uint64_t version,
                 uint64_t incarnation)
    : kind_(std::move(kind)),
      region_(std::move(region)),
      id_(std::move(id)),
      version_(version),
      incarnation_(incarnation) {}

Rollout::State Rollout::say(State state, const std::string& text) {
  state_ = state;
  line_ = kind_ + "/" + id_ + " (" + region_ + "): " + text;
  return state_;
}

Rollout::State Rollout::see(const v1::StatusResponse& response, Time now) {
  if (state_ != State::waiting) return state_;
  const v1::ObjectStatus* object = nullptr;
  for (const auto& o : response.objects()) {
    if (o.kind() == kind_ && o.region() == region_ && o.id() == id_) object = &o;
  }
  const bool behind = response.head().version() < version_;
  const bool older = object != nullptr && object->version() < version_;
  const Fate fate = fate_in(response);
  if (fate == Fate::lost || (fate == Fate::unknown && (behind || older))) {
    return say(State::failed, "the store was restored and has lost version " +
                                  std::to_string(version_) + ": repeat the command");
  }
  // The answer may be older than the apply.
  if (behind) return say(State::waiting, "not read by the server yet");

  const bool applied = applied_in(response);
  if (object == nullptr) return see_absent(fate, applied);
  if (object->version() == version_) incarnation_ = response.head().incarnation();
  const bool nothing_left = !object->has_observed() || object->observed().gone();
  if (!object->live() && object->version() == version_ && nothing_left && applied)
    return say(State::done, "gone");
  if (object->version() > version_) {
    return say(State::failed, "replaced by version " + std::to_string(object->version()));
  }
  for (const auto& agent : response.agents()) {
    if (agent.region() != region_) continue;
    for (const auto& i : agent.issues()) {
      if (i.kind() != kind_ || i.id() != id_ || i.version() < version_) continue;
      if (i.condition() == "orphaned" && !object->live())
        return say(State::waiting, "being removed");
      if (i.condition() == "delayed") return say(State::waiting, "delayed: " + i.reason());
      return say(State::failed, i.condition() + " by agent " + agent.agent() + ": " + i.reason());
    }
  }

  if (!object->live() && nothing_left) return say(State::waiting, "not applied yet");
  if (object->condition() == "blind") return say(State::waiting, object->reason());
  // The server itself waits for the kind.
  if (object->condition() == "delayed") return say(State::waiting, "delayed " + object->reason());
  const auto& seen = object->observed();
  if (!seen_since(response, *object, version_))
    return say(State::waiting, not_seen(response, *object));
  if (!seen.parked().empty()) return say(State::failed, "parked: " + seen.parked());
  if (!object->live()) {
    return seen.gone() ? say(State::done, "gone")
                       : say(State::waiting, seen.ready() > 0 ? count(seen.ready(), "still there")
                                                              : "being removed");
  }
  return see_pods(seen, now);
}

// In one incarnation nothing is lost. A later one has those versions of an earlier one that its
// history names. An earlier one that is not named was lost, or is too old to be named.
Rollout::Fate Rollout::fate_in(const v1::StatusResponse& response) const {
  if (response.head().incarnation() == incarnation_) return Fate::kept;
  for (const auto& end : response.history()) {
    if (end.incarnation() == incarnation_)
      return version_ <= end.version() ? Fate::kept : Fate::lost;
  }
  return Fate::unknown;
}

bool Rollout::applied_in(const v1::StatusResponse& response) const {
  for (const auto& agent : response.agents()) {
    if (agent.region() != region_ || agent.taken_over()) continue;
    for (const auto& progress : agent.kinds()) {
      if (progress.kind() == kind_ && progress.applied().version() < version_) return false;
    }
    for (const auto& i : agent.issues()) {
      if (i.kind() != kind_ || i.id() != id_) continue;
      if (i.condition() == "orphaned" || i.version() >= version_) return false;
    }
  }
  return true;
}

// Every record is shown, except for deleted ones of which nothing is left.
Rollout::State Rollout::see_absent(Fate fate, bool applied) {
  if (fate == Fate::kept && !applied) return say(State::waiting, "not applied yet");
  if (fate == Fate::kept) return say(State::done, "gone");
  return say(State::failed,
             "missing: the store no longer has the record. It was opened anew or restored since "
             "version " +
                 std::to_string(version_) +
                 ", so whether the record was deleted or lost is unknown: apply it again if it is "
                 "wanted");
}

Rollout::State Rollout::see_pods(const v1::Status& seen, Time now) {
  if (seen.updated() == seen.desired() && seen.ready() == seen.desired() && seen.stale() == 0) {
    const std::string at = seen.observed_version() == 0
                               ? "reported since (its agent names no version)"
                               : "running at version " + std::to_string(version_);
    return say(State::done,
               at + ", " + count(seen.ready(), "of ") + std::to_string(seen.desired()) + " ready");
  }
  std::string text = count(seen.updated(), "of ") + std::to_string(seen.desired()) + " updated, " +
                     count(seen.ready(), "ready");
  if (seen.stale() > 0) text += ", " + count(seen.stale(), "of an older template remain");
  if (!seen.message().empty()) text += " (" + seen.message() + ")";

  if (seen.health() != "unhealthy") {
    unhealthy_since_.reset();
  } else if (!unhealthy_since_) {
    unhealthy_since_ = now;
  } else if (now - *unhealthy_since_ >= patience_with_unhealthy) {
    return say(State::failed, "failed: " + text);
  }
  return say(State::waiting, text);
}

}  // namespace davit::host
