#include "sentinel.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/message.hpp"
#include "labels.hpp"

namespace davit::sentinel {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// The gossip Service's name is this name and a suffix.
constexpr size_t name_max = names::label_max - labels::gossip_suffix.size();

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
  std::optional<Error> fault;
  const Fields f(message, fault);
  Sentinel s;
  s.name = f.needed("k8s_name");
  if (auto wrong = service_name_fault(s.name, name_max)) f.reject("k8s_name", *wrong);
  s.workspace_id = needed_id(f, "workspace_id");
  s.project_id = needed_id(f, "project_id");
  s.app_id = optional_id(f, "app_id");
  s.environment_id = needed_id(f, "environment_id");
  s.sentinel_id = needed_id(f, "sentinel_id");
  s.image = needed_image(f, "image");
  s.replicas = f.integer("replicas", 0, int32_top);
  s.cpu_millicores = f.integer("cpu_millicores", 1, cpu_millicores_top);
  s.memory_mib = f.integer("memory_mib", 1, memory_mib_top);
  if (fault) return *fault;
  return s;
}

Result<Named> identify(std::string_view apply, const Site& site) {
  const auto value = parse_object(apply, "the sentinel");
  if (!value.ok()) return value.error();
  std::optional<Error> fault;
  const Fields f(value->get_object(), fault);
  Named named{f.needed("sentinel_id"), site.ns, f.needed("k8s_name")};
  if (fault) return *fault;
  return named;
}

bool wants_none(std::string_view apply) {
  const auto value = parse_object(apply, "the sentinel");
  if (!value.ok()) return false;
  std::optional<Error> fault;
  const Fields f(value->get_object(), fault);
  return f.integer("replicas", 0, int32_top) == 0 && !fault;
}

}  // namespace davit::sentinel
