#include "observed.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <davit/utf8.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/plan.hpp"
#include "render.hpp"

namespace davit::cluster_record {
namespace {

using namespace kubernetes;

// The controller's own. While the Cluster has it, something of the cluster may be left.
constexpr std::string_view controllers_finalizer = "cluster.cluster.k8s.io";
constexpr size_t endpoints_max = 10;  // in the detail
constexpr size_t said_max = 1000;     // bytes of a text of the controller's, or of an actuator's

std::string joined(std::string_view a, std::string_view b) {
  std::string out(a);
  if (!b.empty()) out.append(out.empty() ? "" : ": ").append(b);
  return shortened(out, said_max);
}

// "CreateError: no quota". Empty: nothing failed.
std::string error_of(const json::value& there) {
  return joined(text_at(there, "/status/errorReason"), text_at(there, "/status/errorMessage"));
}

// "Building: 1 of 2".
std::string saying_of(const json::value& there, const char* type) {
  const auto* c = condition(there, type);
  return joined(text_in(c, "reason"), text_in(c, "message"));
}

// What the controller says is of the spec that the Cluster has now.
bool is_of_present_spec(const json::value& there) {
  const auto* ready = condition(there, "Ready");
  const auto* of = value_in(ready, "observedGeneration");
  return ready != nullptr &&
         (of == nullptr || as_integer(*of) == integer_at(there, "/metadata/generation"));
}

json::array finalizers_of(const json::value& there) {
  const auto* all = array_at(there, "/metadata/finalizers");
  return all == nullptr ? json::array() : *all;
}

// The controller has yet to let it go.
bool is_controllers(const json::value& there) {
  const json::array finalizers = finalizers_of(there);
  return std::ranges::any_of(
      finalizers, [](const json::value& one) { return text_of(&one) == controllers_finalizer; });
}

// "10.0.0.1:6443", "[fd00::1]:6443".
json::array endpoints_of(const json::value& there) {
  json::array out;
  const auto* all = array_at(there, "/status/apiEndpoints");
  for (size_t i = 0; all != nullptr && i < all->size() && i < endpoints_max; ++i) {
    std::string host = shortened(text_at((*all)[i], "/host"), said_max);
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    const auto port = integer_at((*all)[i], "/port");
    if (!host.empty()) out.emplace_back(host + (port ? ":" + std::to_string(*port) : ""));
  }
  return out;
}

json::object detail_of(const json::value& there) {
  json::object out{{"reason", shortened(text_in(condition(there, "Ready"), "reason"), said_max)},
                   {"endpoints", endpoints_of(there)},
                   {"actuator", shortened(text_at(there, "/status/actuator"), said_max)}};
  const auto add = [&](const char* key, std::string_view text) {
    if (!text.empty()) out[key] = shortened(text, said_max);
  };
  add("error_reason", text_at(there, "/status/errorReason"));
  add("error_message", text_at(there, "/status/errorMessage"));
  return out;
}

struct Judged {
  const char* health = "progressing";
  bool updated = false;  // its controller has taken in what the record wants
  bool ready = false;
  std::string why{};  // it is not healthy
};

bool removal_failed(const json::value& there) {
  return text_in(condition(there, "Deleting"), "reason") == "Failed";
}

// Why a Cluster that is being deleted is still there.
std::string waits_for(const json::value& there) {
  if (!is_controllers(there)) {
    std::string names;
    for (const auto& one : finalizers_of(there))
      names.append(names.empty() ? "" : ", ").append(text_of(&one));
    return names.empty() ? "" : "waits for the finalizers of others: " + shortened(names, said_max);
  }
  if (!says(there, "Deleting", "True")) {
    const std::string error = error_of(there);
    return error.empty() ? "no controller has said anything of its removal yet" : error;
  }
  if (!removal_failed(there)) return saying_of(there, "Deleting");
  // The condition has errorMessage, and how to give the cluster up.
  return joined(text_at(there, "/status/errorReason"),
                text_in(condition(there, "Deleting"), "message"));
}

Judged paused(const json::value& there, bool works) {
  if (says(there, "Paused", "True")) return {"paused", true, true, saying_of(there, "Paused")};
  return {"progressing", false, works, "its controller has not paused it yet"};
}

Judged judge(const Record& r, const std::string& hash, const json::value& there) {
  const bool works = says(there, "Ready", "True");
  if (is_terminating(there))
    return {"progressing", false, works,
            joined("somebody has deleted it, and it is made again", waits_for(there))};
  if (text_in(object_at(there, "/metadata/annotations"), hash_mark) != hash)
    return {"progressing", false, works, "is not yet as the record has it"};
  const std::string error = error_of(there);
  if (condition(there, "Ready") == nullptr) {
    if (!error.empty()) return {"unhealthy", true, false, error};
    return {"progressing", false, false, "no controller has said anything of it yet"};
  }
  if (r.paused) return paused(there, works);
  if (!is_of_present_spec(there))
    return {"progressing", false, works, "its controller has not seen the change yet"};
  if (says(there, "Paused", "True"))
    return {"progressing", false, false, saying_of(there, "Paused")};
  if (!error.empty()) return {"unhealthy", true, false, error};
  if (works) return {"healthy", true, true};
  return {"progressing", true, false, saying_of(there, "Ready")};
}

}  // namespace

json::object status_of(const Record& r, const std::string& hash, const json::value* there) {
  Judged j{"progressing", false, false, "is not there yet"};
  if (there != nullptr) j = judge(r, hash, *there);
  return {{"gone", false},
          {"health", j.health},
          {"desired", 1},
          {"updated", j.updated ? 1 : 0},
          {"ready", j.ready ? 1 : 0},
          {"stale", 0},
          {"message", j.why},
          {"detail", detail_of(there == nullptr ? json::value() : *there)},
          {"children", json::array{}}};
}

json::object status_of_removal(const json::value* there) {
  if (there == nullptr) return status_of_deleted(true);
  const bool terminating = is_terminating(*there);
  const int64_t ready = says(*there, "Ready", "True") ? 1 : 0;
  json::object out = status_of_deleted(false, ready, 1, {}, terminating ? waits_for(*there) : "");
  if (terminating && is_controllers(*there) && removal_failed(*there)) out["health"] = "unhealthy";
  out["detail"] = detail_of(*there);
  return out;
}

}  // namespace davit::cluster_record
