#include "ctrl_report.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/message.hpp"
#include "sentinel.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr std::pair<std::string_view, const char*> healths[] = {{"HEALTH_UNSPECIFIED", "unknown"},
                                                                {"HEALTH_HEALTHY", "healthy"},
                                                                {"HEALTH_UNHEALTHY", "unhealthy"},
                                                                {"HEALTH_PAUSED", "paused"}};

const char* wire_health(const Status& s) {
  if (s.gone) return "HEALTH_UNHEALTHY";
  if (s.health == "unknown" || s.health.empty()) return "HEALTH_UNSPECIFIED";
  if (s.health == "paused") return "HEALTH_PAUSED";
  return s.ready > 0 ? "HEALTH_HEALTHY" : "HEALTH_UNHEALTHY";
}

}  // namespace

std::string delete_message(const Named& n) {
  return json::serialize(json::object{{"delete", {{"k8s_name", n.name}}}});
}

std::string to_report(const Named& n, const Status& s) {
  const int64_t available = s.gone ? 0 : std::clamp<int64_t>(s.ready, 0, int32_top);
  return json::serialize(json::object{
      {"k8s_name", n.name}, {"available_replicas", available}, {"health", wire_health(s)}});
}

Result<std::pair<Named, Status>> from_report(std::string_view report) {
  const auto value = parse_object(report, "the report");
  if (!value.ok()) return value.error();
  std::optional<Error> fault;
  const Fields f(value->get_object(), fault);
  std::pair<Named, Status> out;
  auto& [named, status] = out;
  named.name = f.needed("k8s_name");
  status.ready = f.integer("available_replicas", 0, int32_top);
  status.desired = status.updated = status.ready;
  // Proto3 JSON leaves out the first value of an enum.
  const auto* given = value->get_object().if_contains("health");
  const bool absent = given == nullptr || given->is_null();
  const auto word = absent ? healths[0].first : text_at(*value, "/health");
  const auto at = std::find_if(std::begin(healths), std::end(healths),
                               [&](const auto& pair) { return pair.first == word; });
  if (at == std::end(healths)) {
    f.reject("health", "is none of HEALTH_UNSPECIFIED, _HEALTHY, _UNHEALTHY and _PAUSED");
  } else {
    status.health = at->second;
  }
  if (fault) return *fault;
  return out;
}

}  // namespace davit::sentinel
