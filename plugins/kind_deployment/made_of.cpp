#include "made_of.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

json::array* containers_of(json::object& pod_template) {
  auto* spec = pod_template.if_contains("spec");
  auto* o = spec == nullptr ? nullptr : spec->if_object();
  auto* containers = o == nullptr ? nullptr : o->if_contains("containers");
  return containers == nullptr ? nullptr : containers->if_array();
}

const json::object* limits_of(const json::object& container) {
  const auto* resources = container.if_contains("resources");
  const auto* o = resources == nullptr ? nullptr : resources->if_object();
  const auto* limits = o == nullptr ? nullptr : o->if_contains("limits");
  return limits == nullptr ? nullptr : limits->if_object();
}

const json::object* named(const json::array& containers, std::string_view name) {
  for (const auto& c : containers) {
    if (const auto* o = c.if_object(); o != nullptr && text_in(o, "name") == name) return o;
  }
  return nullptr;
}

// Whether `there` has every member of `wanted` with the same value.
bool has_all(const json::object* there, const json::object& wanted) {
  for (const auto& [key, value] : wanted) {
    const auto* found = there == nullptr ? nullptr : there->if_contains(key);
    if (found == nullptr || *found != value) return false;
  }
  return true;
}

bool same(const json::object& container, const json::object& wanted) {
  for (const char* key : {"image", "command"}) {
    const auto* value = wanted.if_contains(key);
    const auto* found = container.if_contains(key);
    if (value != nullptr && (found == nullptr || *found != *value)) return false;
  }
  const auto* limits = limits_of(wanted);
  return limits == nullptr || has_all(limits_of(container), *limits);
}

bool looks_like(const Pod& pod, const json::array& wanted) {
  if (pod.containers == nullptr) return false;
  for (const auto& container : wanted) {
    const auto* o = container.if_object();
    if (o == nullptr) return false;
    const auto* found = named(*pod.containers, text_in(o, "name"));
    if (found == nullptr || !same(*found, *o)) return false;
  }
  return true;
}

}  // namespace

std::string_view own_part(std::string_view hash) {
  if (hash.starts_with(judged_by_looks)) hash.remove_prefix(1);
  return hash;
}

void mark_stale(std::vector<Pod>& pods, std::string_view wanted_hash,
                const json::object& pod_template) {
  const bool was_of_another = wanted_hash.starts_with(judged_by_looks);
  const std::string_view wanted = own_part(wanted_hash);
  json::object copy = pod_template;
  const json::array* containers = containers_of(copy);
  for (auto& pod : pods) {
    const std::string_view made_of = own_part(pod.hash);
    pod.stale = made_of.empty() || made_of != wanted;
    if (!pod.stale || containers == nullptr) continue;
    const bool may_count = made_of.empty()
                               ? was_of_another
                               : wanted.starts_with(std::string(made_of) + judged_by_looks);
    if (may_count && looks_like(pod, *containers)) pod.stale = false;
  }
}

json::object not_kept(json::object pod_template) {
  json::array* containers = containers_of(pod_template);
  if (containers == nullptr) return pod_template;
  for (auto& c : *containers) {
    auto* container = c.if_object();
    if (container == nullptr) continue;
    container->erase("image");
    container->erase("command");
    auto* resources = container->if_contains("resources");
    if (resources != nullptr && resources->is_object()) resources->get_object().erase("limits");
  }
  return pod_template;
}

}  // namespace davit::deployment
