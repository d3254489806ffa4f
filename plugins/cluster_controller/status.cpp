#include "status.hpp"

#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/merge_patch.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/times.hpp"

namespace davit::clusters {
namespace {

using Phase = Found::Phase;

constexpr const char* own_members[] = {"actuator", "conditions", "errorReason", "errorMessage",
                                       "observedGeneration"};

int64_t generation_of(const json::object& cluster) {
  const auto* value =
      kubernetes::value_in(kubernetes::object_in(cluster, "metadata"), "generation");
  return value == nullptr ? 0 : kubernetes::as_integer(*value).value_or(0);
}

struct Condition {
  const char* type;
  bool is = false;
  std::string reason, message;
};

// Sets the condition in the list. Others' conditions stay, and so does the time of an equal status.
void set(json::array& conditions, const Condition& c, int64_t generation, const std::string& now) {
  const char* status = c.is ? "True" : "False";
  json::object made{{"type", c.type},
                    {"status", status},
                    {"reason", c.reason},
                    {"message", c.message},
                    {"observedGeneration", generation},
                    {"lastTransitionTime", now}};
  for (json::value& entry : conditions) {
    const json::object* there = entry.if_object();
    if (there == nullptr || kubernetes::text_in(*there, "type") != c.type) continue;
    const auto since = kubernetes::text_in(*there, "lastTransitionTime");
    if (kubernetes::text_in(*there, "status") == status && !since.empty())
      made["lastTransitionTime"] = since;
    entry = std::move(made);
    return;
  }
  if (c.is || std::string_view(c.type) == "Ready") conditions.push_back(std::move(made));
}

}  // namespace

const char* reason_of(const Found& found) {
  if (!found.error_reason.empty()) return "Failed";
  switch (found.phase) {
    case Phase::building:
      return "Building";
    case Phase::ready:
      return "Ready";
    case Phase::paused:
      return "Paused";
    case Phase::removing:
      return "Deleting";
  }
  return "Unknown";
}

json::object status_of(const json::object& cluster, const Found& found, int64_t now_unix_ms) {
  json::object out;
  if (const auto* before = kubernetes::object_in(cluster, "status")) out = *before;
  const std::string now = kubernetes::time_text(now_unix_ms);
  const int64_t generation = generation_of(cluster);
  if (!found.actuator.empty()) out["actuator"] = found.actuator;
  const bool ready = found.phase == Phase::ready && found.error_reason.empty();
  if (ready) out["observedGeneration"] = generation;
  if (!found.error_reason.empty()) {
    out["errorReason"] = found.error_reason;
    out["errorMessage"] = found.message;
  } else if (found.phase != Phase::paused) {
    out.erase("errorReason");
    out.erase("errorMessage");
  }
  json::array conditions;
  if (const auto* before = kubernetes::array_in(&out, "conditions")) conditions = *before;
  const bool removing =
      !kubernetes::text_in(kubernetes::object_in(cluster, "metadata"), "deletionTimestamp").empty();
  set(conditions, {"Ready", ready, reason_of(found), found.message}, generation, now);
  set(conditions, {"Deleting", removing, reason_of(found), found.message}, generation, now);
  const bool paused = found.phase == Phase::paused;
  set(conditions,
      {"Paused", paused, paused ? "Annotated" : "NotAnnotated", paused ? found.message : ""},
      generation, now);
  out["conditions"] = std::move(conditions);
  return out;
}

std::string error_reason_of(Code code, bool removes, bool exists) {
  if (removes) return "DeleteError";
  if (code == Code::invalid_argument || code == Code::unimplemented || code == Code::not_found)
    return "InvalidConfiguration";
  if (code == Code::failed_precondition) return "UnsupportedChange";
  return exists ? "UpdateError" : "CreateError";
}

Result<> apply_status_patch(json::object& cluster, std::string_view patch) {
  if (patch.empty()) return {};
  boost::system::error_code bad;
  json::value value = json::parse(json::string_view(patch.data(), patch.size()), bad);
  if (bad || !value.is_object())
    return Error{Code::invalid_argument, "the actuator's status_patch is not a JSON object"};
  for (const char* member : own_members) value.get_object().erase(member);
  kubernetes::merge_patch(kubernetes::object_made(cluster, "status"), value.get_object());
  return {};
}

bool was_ready(const json::object& cluster) {
  return kubernetes::value_in(kubernetes::object_in(cluster, "status"), "observedGeneration") !=
         nullptr;
}

}  // namespace davit::clusters
