#include "sentinel.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "fields.hpp"
#include "labels.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// Far above any node. These limits keep every calculation inside 64 bits.
constexpr int64_t cpu_millicores_top = 1'000'000'000;
constexpr int64_t memory_mib_top = 1'073'741'824;
// The gossip Service's name is this name and a suffix.
constexpr size_t name_max = names::label_max - labels::gossip_suffix.size();

// An id that becomes a label's value.
std::string id(Fields& f, std::string_view key, std::string value) {
  if (auto fault = label_value_fault(value)) f.reject(key, *fault);
  return value;
}

}  // namespace

std::string Sentinel::gossip_name() const {
  return name + std::string(labels::gossip_suffix);
}

Result<Sentinel> read_sentinel(std::string_view apply) {
  const auto value = parse_object(apply, "the sentinel");
  if (!value.ok()) return value.error();
  return read_sentinel(value->get_object());
}

Result<Sentinel> read_sentinel(const json::object& message) {
  Fields f(message);
  Sentinel s;
  s.name = f.needed("k8s_name");
  if (auto fault = service_name_fault(s.name, name_max)) f.reject("k8s_name", *fault);
  s.workspace_id = id(f, "workspace_id", f.needed("workspace_id"));
  s.project_id = id(f, "project_id", f.needed("project_id"));
  s.app_id = id(f, "app_id", f.string("app_id"));
  s.environment_id = id(f, "environment_id", f.needed("environment_id"));
  s.sentinel_id = id(f, "sentinel_id", f.needed("sentinel_id"));
  s.image = f.needed("image");
  if (s.image.find_first_of(" \t\r\n") != std::string::npos)
    f.reject("image", "must not contain white space");
  s.replicas = f.integer("replicas", 0, replicas_top);
  s.cpu_millicores = f.integer("cpu_millicores", 1, cpu_millicores_top);
  s.memory_mib = f.integer("memory_mib", 1, memory_mib_top);
  if (f.fault()) return *f.fault();
  return s;
}

Result<Named> identify(std::string_view apply, const Site& site) {
  const auto value = parse_object(apply, "the sentinel");
  if (!value.ok()) return value.error();
  Fields f(value->get_object());
  Named named{f.needed("sentinel_id"), site.ns, f.needed("k8s_name")};
  if (f.fault()) return *f.fault();
  return named;
}

bool wants_none(std::string_view apply) {
  const auto value = parse_object(apply, "the sentinel");
  if (!value.ok()) return false;
  Fields f(value->get_object());
  return f.integer("replicas", 0, replicas_top) == 0 && !f.fault();
}

}  // namespace davit::sentinel
