#include "ctrl_report.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

constexpr std::pair<std::string_view, std::string_view> status_words[] = {
    {"STATUS_PENDING", "pending"}, {"STATUS_RUNNING", "running"}, {"STATUS_FAILED", "failed"}};

std::string_view wire_status(std::string_view word) {
  for (const auto& [wire, own] : status_words) {
    if (own == word) return wire;
  }
  return "STATUS_UNSPECIFIED";
}
std::string_view own_status(std::string_view word) {
  for (const auto& [wire, own] : status_words) {
    if (wire == word) return own;
  }
  return "inactive";
}

Child read_instance(const Fields& f, std::string_view status) {
  Child child;
  child.name = f.needed("k8s_name");
  child.address = f.string("address");
  child.status = own_status(status);
  child.cpu_millicores = f.integer("cpu_millicores", 0);
  child.memory_mib = f.integer("memory_mib", 0);
  return child;
}

std::string health_of(const Status& s) {
  if (s.children.empty()) return "unknown";
  if (s.ready == s.desired) return "healthy";
  for (const auto& child : s.children) {
    if (child.status == "failed") return "unhealthy";
  }
  return "progressing";
}

void read_instances(const Fields& update, const json::object& object, Status& status) {
  if (!update.has("instances")) return;
  const auto* list = object.at("instances").if_array();
  if (list == nullptr) return update.reject("instances", "must be a list");
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string place = "instances[" + std::to_string(i) + "]";
    const auto* instance = (*list)[i].if_object();
    if (instance == nullptr) return update.reject(place, "must be an object");
    // A status that this version does not know is a number here, and counts as inactive.
    status.children.push_back(
        read_instance(update.inside(*instance, place), text_at((*list)[i], "/status")));
    if (status.children.back().status == "running") ++status.ready;
  }
  status.desired = status.updated = static_cast<int64_t>(status.children.size());
}

}  // namespace

std::string delete_message(const Named& n) {
  return json::serialize(json::object{{"delete", {{"k8s_namespace", n.ns}, {"k8s_name", n.name}}}});
}

std::string to_report(const Named& n, const Status& status) {
  if (status.gone) return json::serialize(json::object{{"delete", {{"k8s_name", n.name}}}});
  json::array instances;
  for (const auto& child : status.children) {
    instances.push_back(json::object{{"k8s_name", child.name},
                                     {"address", child.address},
                                     {"cpu_millicores", std::to_string(child.cpu_millicores)},
                                     {"memory_mib", std::to_string(child.memory_mib)},
                                     {"status", wire_status(child.status)}});
  }
  return json::serialize(
      json::object{{"update", {{"k8s_name", n.name}, {"instances", std::move(instances)}}}});
}

Result<std::pair<Named, Status>> from_report(std::string_view report) {
  const auto value = parse_object(report, "the report");
  if (!value.ok()) return value.error();
  std::optional<Error> fault;
  const Fields root(value->get_object(), fault);
  const auto* update = root.object("update");
  const auto* removed = root.object("delete");
  if (fault) return *fault;
  if ((update == nullptr) == (removed == nullptr)) {
    return Error{Code::invalid_argument, "exactly one of update and delete is needed"};
  }
  std::pair<Named, Status> out;
  auto& [named, status] = out;
  const Fields f =
      update != nullptr ? root.inside(*update, "update") : root.inside(*removed, "delete");
  named.name = f.needed("k8s_name");
  status.gone = removed != nullptr;
  if (update != nullptr) read_instances(f, *update, status);
  status.health = health_of(status);
  if (fault) return *fault;
  return out;
}

}  // namespace davit::deployment
