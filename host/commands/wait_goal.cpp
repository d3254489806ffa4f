#include "wait_goal.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <davit/v1/operator.pb.h>
#include <davit/ascii.hpp>

#include "conditions.hpp"
#include "config/suggest.hpp"
#include "text_pieces.hpp"

namespace davit::host {

namespace {

Error no_goal(const std::string& text) {
  std::vector<std::string> names = {"deleted", "version="};
  for (const Condition& c : conditions) names.emplace_back(c.name);
  const std::string near = nearest(text, names);
  return {Code::invalid_argument,
          "--for must be healthy, deleted, version=N or a word that davit explain knows, not \"" +
              text + "\"" + (near.empty() ? "" : "; did you mean \"" + near + "\"?")};
}

// The words that status shows of an object.
bool shows(const v1::ObjectStatus& object, const std::string& word) {
  return object.condition() == word ||
         (object.has_observed() && object.observed().health() == word);
}

std::string words_of(const v1::ObjectStatus& object) {
  const std::string& health = object.observed().health();
  std::string out = health.empty() ? "not reported yet" : health;
  if (!object.condition().empty()) out += ", " + object.condition();
  if (!object.reason().empty()) out += ": " + object.reason();
  return out;
}

}  // namespace

Result<WaitGoal> WaitGoal::parse(const std::string& text) {
  std::string_view rest = text;
  if (take_prefix(rest, "version=")) {
    WaitGoal out{Type::version};
    const char* end = rest.data() + rest.size();
    const auto read = std::from_chars(rest.data(), end, out.version);
    if (read.ec == std::errc() && read.ptr == end && out.version > 0) return out;
    return Error{
        Code::invalid_argument,
        "--for=version=N needs a number that is at least 1, not \"" + std::string(rest) + "\""};
  }
  take_prefix(rest, "condition=");
  // kubectl has a capital letter in its conditions, and the verb: --for=delete.
  const std::string word = lower_case(rest);
  if (word == "healthy") return WaitGoal{Type::running};
  if (word == "deleted" || word == "delete" || word == "gone") return WaitGoal{Type::deleted};
  for (const Condition& c : conditions) {
    if (c.name == word) return WaitGoal{Type::condition, 0, word};
  }
  return no_goal(text);
}

Rollout::State Awaited::say(Rollout::State state, const std::string& text) {
  state_ = state;
  line_ = kind_ + "/" + id_ + " (" + region_ + "): " + text;
  return state_;
}

Rollout::State Awaited::see(const v1::StatusResponse& response) {
  if (state_ != Rollout::State::waiting) return state_;
  const v1::ObjectStatus* object = nullptr;
  for (const auto& o : response.objects()) {
    if (o.kind() == kind_ && o.region() == region_ && o.id() == id_) object = &o;
  }
  if (object != nullptr) version_ = std::max(version_, object->version());
  if (response.head().version() < version_)
    return say(Rollout::State::waiting, "not read by the server yet");
  if (goal_.type == WaitGoal::Type::deleted) return see_left(response, object);
  if (object == nullptr) return say(Rollout::State::failed, "it is deleted, and gone");
  return see_object(*object);
}

// A deleted record is shown while something of its object is left.
Rollout::State Awaited::see_left(const v1::StatusResponse& response,
                                 const v1::ObjectStatus* object) {
  if (object != nullptr && object->state() != "deleted")
    return say(Rollout::State::waiting,
               "not deleted yet, version " + std::to_string(object->version()));
  if (object != nullptr && !object->observed().gone())
    return say(Rollout::State::waiting, "being removed");
  const std::string kept = kept_by(response);
  return kept.empty() ? say(Rollout::State::done, "gone") : say(Rollout::State::waiting, kept);
}

std::string Awaited::kept_by(const v1::StatusResponse& response) const {
  for (const auto& agent : response.agents()) {
    if (agent.region() != region_ || agent.taken_over()) continue;
    for (const auto& i : agent.issues()) {
      if (i.kind() == kind_ && i.id() == id_)
        return i.condition() + " by agent " + agent.agent() + ": " + i.reason();
    }
    for (const auto& progress : agent.kinds()) {
      if (progress.kind() == kind_ && progress.applied().version() < version_)
        return "not applied yet by agent " + agent.agent();
    }
  }
  return {};
}

Rollout::State Awaited::see_object(const v1::ObjectStatus& object) {
  if (goal_.type == WaitGoal::Type::version) {
    const uint64_t seen = object.observed().observed_version();
    const std::string text = "observed version is " + std::to_string(seen);
    const bool met = object.has_observed() && seen >= goal_.version;
    return say(met ? Rollout::State::done : Rollout::State::waiting, text);
  }
  return say(shows(object, goal_.word) ? Rollout::State::done : Rollout::State::waiting,
             words_of(object));
}

}  // namespace davit::host
