#include "managers.hpp"

#include <boost/json/array.hpp>

#include "fields.hpp"
#include "kubernetes/times.hpp"

namespace davit::cluster_memory {
namespace json = boost::json;

std::vector<FieldManager> managers_of(const json::object& object) {
  std::vector<FieldManager> out;
  const auto* list = at(object, {"metadata", "managedFields"});
  if (list == nullptr || !list->is_array()) return out;
  for (const auto& item : list->get_array()) {
    const auto* o = item.if_object();
    const auto* set = o == nullptr ? nullptr : object_at(*o, {"fieldsV1"});
    if (set == nullptr) continue;
    const auto* time = o->if_contains("time");
    out.push_back({std::string(string_at(*o, {"manager"})),
                   std::string(string_at(*o, {"operation"})),
                   std::string(string_at(*o, {"subresource"})), *set,
                   time == nullptr ? json::value() : *time});
  }
  return out;
}

void store_managers(json::object& object, const std::vector<FieldManager>& managers) {
  json::array list;
  const auto version = object["apiVersion"];
  for (const auto& m : managers) {
    if (m.set.empty()) continue;
    json::object entry = {{"manager", m.name}, {"operation", m.operation}, {"apiVersion", version},
                          {"time", m.time},    {"fieldsType", "FieldsV1"}, {"fieldsV1", m.set}};
    if (!m.subresource.empty()) entry["subresource"] = m.subresource;
    list.push_back(std::move(entry));
  }
  object_in(object, "metadata")["managedFields"] = std::move(list);
}

FieldManager& manager_entry(std::vector<FieldManager>& managers, std::string_view name,
                            std::string_view operation, std::string_view subresource) {
  for (auto& m : managers) {
    if (m.is(name, operation, subresource)) return m;
  }
  managers.push_back({std::string(name), std::string(operation), std::string(subresource), {}, {}});
  return managers.back();
}

json::object owned_part(json::object object) {
  for (auto key : {"apiVersion", "kind"}) object.erase(key);
  if (auto* meta = object.if_contains("metadata"); meta != nullptr && meta->is_object()) {
    json::object kept;
    for (auto key : {"labels", "annotations", "ownerReferences", "finalizers"}) {
      if (const auto* v = meta->get_object().if_contains(key)) kept[key] = *v;
    }
    object["metadata"] = kept;
    if (kept.empty()) object.erase("metadata");
  }
  return object;
}

void assign_changes(const Object& live, json::object& object, const ResourceType& type,
                    const std::string& manager, const std::string& subresource, int64_t now_ms) {
  // A writer may pass fields to other managers, and may omit managedFields.
  auto managers = managers_of(object);
  if (managers.empty() && live != nullptr) managers = managers_of(*live);
  const json::object before = live == nullptr ? json::object{} : owned_part(*live);
  const json::object after = owned_part(object);
  const json::object changed = fields::changed(before, after, type.built_in);
  for (auto& m : managers) {
    fields::subtract(m.set, changed);
    fields::keep_present(m.set, after);
  }
  if (!changed.empty()) {
    FieldManager& mine =
        manager_entry(managers, manager.empty() ? "unknown" : manager, "Update", subresource);
    fields::unite(mine.set, changed);
    mine.time = json::value(kubernetes::time_text(now_ms));
  }
  store_managers(object, managers);
}

}  // namespace davit::cluster_memory
