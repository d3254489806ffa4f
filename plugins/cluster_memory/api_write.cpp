// The writing half of Api: create, apply, merge and update, and the checks before an object is
// stored.
#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api.hpp"
#include "fields.hpp"
#include "managers.hpp"
#include "selector.hpp"
#include "kubernetes/merge_patch.hpp"
#include "kubernetes/times.hpp"

namespace davit::cluster_memory {
namespace {

namespace json = boost::json;

void drop_nulls(json::object& object) {
  for (auto it = object.begin(); it != object.end();) {
    if (it->value().is_object()) drop_nulls(it->value().get_object());
    it = it->value().is_null() ? object.erase(it) : it + 1;
  }
}

// A write of the object keeps the stored status, and a write of "status" keeps everything else.
void keep_other_half(const Object& live, json::object& object, bool status_write) {
  if (live == nullptr) {
    object.erase("status");
    return;
  }
  json::object out = status_write ? *live : object;
  const json::object& status_from = status_write ? object : *live;
  if (const auto* s = status_from.if_contains("status")) {
    out["status"] = *s;
  } else {
    out.erase("status");
  }
  object = std::move(out);
}

std::optional<std::string> bad_labels(const json::object& object) {
  const auto* labels = at(object, {"metadata", "labels"});
  if (labels == nullptr) return std::nullopt;
  if (!labels->is_object()) return "metadata.labels: Invalid value: must be a map of strings";
  for (const auto& [key, value] : labels->get_object()) {
    if (!valid_label_key(key)) {
      return "metadata.labels: Invalid value: \"" + std::string(key) +
             "\": name part must consist of "
             "alphanumeric characters, '-', '_' or '.'";
    }
    if (!value.is_string() || !valid_label_value(value.get_string())) {
      return "metadata.labels: Invalid value: " + json::serialize(value) +
             ": a valid label must be an empty "
             "string or consist of alphanumeric characters, '-', '_' or '.', at most 63 of them";
    }
  }
  return std::nullopt;
}

// Finds settings of a container that exclude each other.
std::optional<std::string> bad_container(const json::object& container, size_t index) {
  const std::string where = "spec.template.spec.containers[" + std::to_string(index) + "].";
  const auto* env = at(container, {"env"});
  for (size_t i = 0; env != nullptr && env->is_array() && i < env->get_array().size(); ++i) {
    const auto* variable = env->get_array()[i].if_object();
    if (variable == nullptr || string_at(*variable, {"value"}).empty()) continue;
    if (!variable->contains("valueFrom")) continue;
    return where + "env[" + std::to_string(i) +
           "].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty";
  }
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const auto* p = object_at(container, {probe});
    const bool both = p != nullptr && p->contains("httpGet") && p->contains("exec");
    if (both)
      return where + probe + ".httpGet: Forbidden: may not specify more than 1 handler type";
  }
  return std::nullopt;
}

std::optional<std::string> bad_replica_set(const json::object& object, const Object& live) {
  const auto* replicas = at(object, {"spec", "replicas"});
  if (replicas != nullptr && (!replicas->is_int64() || replicas->get_int64() < 0)) {
    return "spec.replicas: Invalid value: " + json::serialize(*replicas) +
           ": must be greater than or equal to 0";
  }
  const auto* selector = object_at(object, {"spec", "selector", "matchLabels"});
  const auto* labels = object_at(object, {"spec", "template", "metadata", "labels"});
  if (selector == nullptr || selector->empty()) return "spec.selector: Required value";
  for (const auto& [key, value] : *selector) {
    const auto* label = labels == nullptr ? nullptr : labels->if_contains(key);
    if (label == nullptr || *label != value) {
      return "spec.template.metadata.labels: Invalid value: `selector` does not match template "
             "`labels`";
    }
  }
  const auto* containers = at(object, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->get_array().empty()) {
    return "spec.template.spec.containers: Required value";
  }
  for (size_t i = 0; i < containers->get_array().size(); ++i) {
    const auto* container = containers->get_array()[i].if_object();
    if (container == nullptr) continue;
    if (auto bad = bad_container(*container, i)) return bad;
  }
  if (live == nullptr) return std::nullopt;
  const auto* old = at(*live, {"spec", "selector"});
  if (old != nullptr && *old != *at(object, {"spec", "selector"})) {
    return "spec.selector: Invalid value: " + json::serialize(*at(object, {"spec", "selector"})) +
           ": field is immutable";
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> Api::check_body(Call& call, json::object& object) const {
  auto& meta = object_in(object, "metadata");
  const std::string name(string_at(object, {"metadata", "name"}));
  const std::string ns(string_at(object, {"metadata", "namespace"}));
  if (call.key.name.empty()) {
    const std::string prefix(string_at(object, {"metadata", "generateName"}));
    if (name.empty() && !prefix.empty())
      call.key.name = prefix + make_suffix(const_cast<Store&>(store_).random());
    if (!name.empty()) call.key.name = name;
    if (call.key.name.empty()) {
      return invalid(call.type, "",
                     "metadata.name: Required value: name or generateName is required");
    }
    call.live = store_.find(call.key);
  }
  if (!name.empty() && name != call.key.name) {
    return Refusal{400, "BadRequest",
                   "the name of the object (" + name + ") does not match the name on the URL (" +
                       call.key.name + ")"};
  }
  if (!ns.empty() && ns != call.key.ns) {
    return Refusal{400, "BadRequest",
                   "the namespace of the provided object does not match the namespace sent on "
                   "the request"};
  }
  if (call.type.built_in && call.type.namespaced && call.key.ns.empty()) {
    return Refusal{400, "BadRequest", "an empty namespace may not be set during creation"};
  }
  const std::string kind(string_at(object, {"kind"}));
  if (!call.type.kind.empty() && !kind.empty() && kind != call.type.kind) {
    return Refusal{400, "BadRequest",
                   kind + " in the body does not match the kind of " +
                       qualified_resource(call.type) + " (" + call.type.kind + ")"};
  }
  meta["name"] = call.key.name;
  if (!call.key.ns.empty()) meta["namespace"] = call.key.ns;
  drop_nulls(object);
  return std::nullopt;
}

std::optional<Refusal> Api::check_new(const Call& call) const {
  const auto& name = call.key.name;
  if (!(call.type.label_names ? valid_label_name(name) : valid_subdomain(name))) {
    return invalid(call.type, name,
                   "metadata.name: Invalid value: \"" + name + "\": a lowercase RFC 1123 " +
                       (call.type.label_names ? "label" : "subdomain") +
                       " must consist of lower case alphanumeric characters or '-', and must start "
                       "and end with an "
                       "alphanumeric character");
  }
  if (call.key.ns.empty() || store_.find({{"", "namespaces"}, "", call.key.ns}) != nullptr)
    return std::nullopt;
  return Refusal{404, "NotFound", "namespaces \"" + call.key.ns + "\" not found"};
}

std::optional<Refusal> Api::check_object(const Call& call, const json::object& object) const {
  if (auto bad = bad_labels(object)) return invalid(call.type, call.key.name, *bad);
  if (call.key.collection == Collection{"apps", "replicasets"}) {
    if (auto bad = bad_replica_set(object, call.live))
      return invalid(call.type, call.key.name, *bad);
  }
  return std::nullopt;
}

std::optional<Refusal> Api::check_state(const Call& call, const json::object& object) {
  const auto conflict = [&](const std::string& why) {
    return Refusal{409, "Conflict",
                   "Operation cannot be fulfilled on " + qualified_resource(call.type) + " \"" +
                       call.key.name + "\": " + why};
  };
  const std::string uid(string_at(object, {"metadata", "uid"}));
  if (call.live == nullptr) {
    if (uid.empty() || !call.request.subresource.empty()) return std::nullopt;
    return conflict("uid mismatch: the provided object specified uid " + uid +
                    ", and no existing object was found");
  }
  const auto version = string_at(object, {"metadata", "resourceVersion"});
  if ((version.empty() || version == string_at(*call.live, {"metadata", "resourceVersion"})) &&
      (uid.empty() || uid == string_at(*call.live, {"metadata", "uid"}))) {
    return std::nullopt;
  }
  return conflict(
      "the object has been modified; please apply your changes to the latest version and try "
      "again");
}

cluster::Response Api::write(Call& call) {
  auto bad = [&](std::string message) {
    return refuse({400, "BadRequest", std::move(message)}, call.type, call.key.name);
  };
  boost::system::error_code error;
  json::value body = json::parse(call.request.body, error);
  if (error || !body.is_object()) return bad("the body is not a JSON object");
  const auto& verb = call.request.verb;
  if (verb == DAVIT_VERB_MERGE) return merge(call, body.get_object());
  if (auto refused = check_body(call, body.get_object()))
    return refuse(*refused, call.type, call.key.name);
  if (string_at(body.get_object(), {"kind"}).empty() ||
      string_at(body.get_object(), {"apiVersion"}).empty()) {
    return bad("apiVersion and kind must be set");
  }
  if (verb == DAVIT_VERB_CREATE) return create(call, std::move(body.get_object()));
  if (verb == DAVIT_VERB_APPLY) return apply(call, std::move(body.get_object()));
  if (verb == DAVIT_VERB_UPDATE) return update(call, std::move(body.get_object()));
  return bad("the verb \"" + verb + "\" is unknown");
}

// Follows the order of an API server: faults of the object come before a name that is taken. So a
// create with dryRun=All shows whether the object would be accepted.
cluster::Response Api::create(Call& call, json::object object) {
  if (!string_at(object, {"metadata", "resourceVersion"}).empty()) {
    return refuse({400, "BadRequest", "resourceVersion should not be set on objects to be created"},
                  call.type, call.key.name);
  }
  if (call.type.status) object.erase("status");
  const Object there = std::exchange(call.live, nullptr);
  auto refused = check_new(call);
  if (!refused) refused = check_object(call, object);
  if (refused) return refuse(*refused, call.type, call.key.name);
  if (there != nullptr) {
    const bool leaving = at(*there, {"metadata", "deletionTimestamp"}) != nullptr;
    return refuse({409, "AlreadyExists",
                   (leaving ? "object is being deleted: " : "") + qualified_resource(call.type) +
                       " \"" + call.key.name + "\" already exists"},
                  call.type, call.key.name);
  }
  assign_changes(nullptr, object, call.type, call.manager, "", call.now_ms);
  return commit(call, std::move(object));
}

cluster::Response Api::apply(Call& call, json::object applied) {
  if (call.manager.empty()) {
    return refuse({400, "BadRequest",
                   "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
                   "required for apply patch"},
                  call.type, call.key.name);
  }
  const std::string& sub = call.request.subresource;
  if (sub.empty() && call.type.status) applied.erase("status");
  const json::object wanted = owned_part(applied);
  const json::object set = fields::of(wanted, call.type.built_in);
  json::object merged = call.live == nullptr ? applied : *call.live;
  auto managers = managers_of(merged);
  if (call.live != nullptr) {
    const bool force = query_value(call.request, "force") == "true";
    for (auto& m : managers) {
      if (m.is(call.manager, "Apply", sub)) continue;
      const auto found = fields::conflicts(set, m.set, wanted, *call.live);
      if (!found.empty() && !force) {
        Refusal conflict{409, "Conflict",
                         "Apply failed with " + std::to_string(found.size()) +
                             " conflict: conflict with \"" + m.name + "\": " + found.front().text};
        for (const auto& c : found) {
          conflict.causes.push_back(
              {"FieldManagerConflict", "conflict with \"" + m.name + "\"", c.text});
        }
        return refuse(conflict, call.type, call.key.name);
      }
      for (const auto& c : found) fields::erase(m.set, c.path);
    }
    json::object old_set;
    std::vector<const json::object*> others;
    for (const auto& m : managers) {
      if (m.is(call.manager, "Apply", sub)) {
        old_set = m.set;
      } else {
        others.push_back(&m.set);
      }
    }
    fields::merge(merged, wanted, call.type.built_in);
    fields::remove_omitted(merged, old_set, set, others);
    merged["apiVersion"] = applied["apiVersion"];
  }
  // This also holds for a forced apply, which takes over fields only. A resourceVersion of an
  // object that does not exist has no effect.
  if (auto refused = check_state(call, applied)) return refuse(*refused, call.type, call.key.name);
  FieldManager& mine = manager_entry(managers, call.manager, "Apply", sub);
  mine.set = set;
  mine.time = json::value(kubernetes::time_text(call.now_ms));
  store_managers(merged, managers);
  return commit(call, std::move(merged));
}

cluster::Response Api::merge(Call& call, const json::object& patch) {
  if (call.live == nullptr) return read(call);
  const auto version = string_at(patch, {"metadata", "resourceVersion"});
  json::object object = *call.live;
  kubernetes::merge_patch(object, patch);
  if (!version.empty()) object_in(object, "metadata")["resourceVersion"] = version;
  return update(call, std::move(object));
}

cluster::Response Api::update(Call& call, json::object object) {
  if (call.live == nullptr) return read(call);
  if (auto refused = check_state(call, object)) return refuse(*refused, call.type, call.key.name);
  const bool status_write = !call.request.subresource.empty();
  if (call.type.status || status_write) keep_other_half(call.live, object, status_write);
  assign_changes(call.live, object, call.type, call.manager, call.request.subresource, call.now_ms);
  return commit(call, std::move(object));
}

cluster::Response Api::commit(Call& call, json::object object) {
  const bool fresh = call.live == nullptr;
  std::optional<Refusal> refused;
  if (fresh && !call.request.subresource.empty()) return read(call);
  if (fresh) refused = check_new(call);
  if (!refused) refused = check_object(call, object);
  if (refused) return refuse(*refused, call.type, call.key.name);
  if (call.key.collection == Collection{"apps", "replicasets"}) {
    object_in(object, "spec").emplace("replicas", 1);  // a default that the simulation needs
  }
  if (call.key.collection == Collection{"", "namespaces"}) {
    object_in(object_in(object, "metadata"), "labels")["kubernetes.io/metadata.name"] =
        call.key.name;
    object_in(object, "status")["phase"] = "Active";
  }
  if (call.dry) return answer(fresh ? 201 : 200, json::serialize(object));
  const Object stored = fresh ? store_.add(call.key, std::move(object), call.now_ms)
                              : store_.replace(call.key, std::move(object), call.now_ms);
  if (call.type.kind == "CustomResourceDefinition") resources_.learn(*stored);
  return answer(fresh ? 201 : 200, json::serialize(*stored));
}

}  // namespace davit::cluster_memory
