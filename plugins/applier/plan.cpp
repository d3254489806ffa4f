#include "plan.hpp"

#include <algorithm>
#include <set>

#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::applier {
namespace {

constexpr size_t needs_max = 32;  // of one answer

// What names an object of the cluster, in "delete" and in a need.
const std::initializer_list<std::string_view> object_members = {"group", "version", "resource",
                                                                "namespace", "name"};

Error fault(std::string what) {
  return {Code::internal, "kind: " + std::move(what)};
}

int64_t integer_at(const json::object& o, const char* key) {
  const json::value* v = o.if_contains(key);
  if (v == nullptr) return 0;
  boost::system::error_code bad;
  const auto n = v->to_number<int64_t>(bad);
  return bad ? 0 : n;
}

bool flag_at(const json::object& o, const char* key) {
  const json::value* v = o.if_contains(key);
  return v != nullptr && v->is_bool() && v->get_bool();
}

// Refuses members that this applier does not know. `where`: "an entry of \"apply\"".
Result<> only(const json::object& o, std::initializer_list<std::string_view> known,
              std::string_view where) {
  for (const auto& member : o) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fault("this applier does not know the member \"" + std::string(name) + "\" of " +
                 std::string(where));
  }
  return {};
}

// The resource of the kind's description that a rendered object belongs to; NULL: none.
const kind::Resource* resource_of(const json::object& object,
                                  const kind::Description& description) {
  const std::string version = text_in(object, "apiVersion");
  const size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const std::string name = text_in(object, "kind");
  for (const auto& r : description.resources) {
    if (r.group == group && r.kind == name) return &r;
  }
  return nullptr;
}

// Where a value comes from: "decrypt" or "read".
Result<secrets::Item> read_source(const json::object& entry, const std::string& what) {
  const auto* decrypt = kubernetes::object_in(entry, "decrypt");
  const auto* read = kubernetes::object_in(entry, "read");
  if ((decrypt == nullptr) == (read == nullptr))
    return fault(what + " must have either \"decrypt\" or \"read\"");
  secrets::Item out;
  if (decrypt != nullptr) {
    if (auto r = only(*decrypt, {"keyring", "ciphertext"}, what); !r.ok()) return r.error();
    out.type = DAVIT_SECRET_DECRYPT;
    out.keyring = text_in(*decrypt, "keyring");
    out.ciphertext = text_in(*decrypt, "ciphertext");
  } else {
    if (auto r = only(*read, {"keyring", "ref", "field", "version"}, what); !r.ok())
      return r.error();
    out.type = DAVIT_SECRET_READ;
    out.keyring = text_in(*read, "keyring");
    out.ref = text_in(*read, "ref");
    out.field = text_in(*read, "field");
    out.version = text_in(*read, "version");
    if (out.ref.empty()) return fault(what + " names no ref");
  }
  return out;
}

Result<> read_secrets(const json::value& list, Step& out) {
  if (!list.is_array()) return fault("\"secrets\" of an entry of \"apply\" is not a list");
  if (!metadata_only(out.as->group, out.as->resource) || out.mode == Mode::ensure)
    return fault("\"secrets\" of a " + out.as->kind + ", which is no Secret that is applied");
  for (const char* content : {"data", "stringData"}) {
    if (out.object.get_object().contains(content))
      return fault("a Secret with both \"secrets\" and \"" + std::string(content) + "\"");
  }
  std::set<std::string> keys;
  for (const auto& entry : list.get_array()) {
    const json::object* e = entry.if_object();
    if (e == nullptr) return fault("an entry of \"secrets\" is not an object");
    if (auto r = only(*e, {"key", "decrypt", "read"}, "an entry of \"secrets\""); !r.ok()) return r;
    const std::string key = text_in(*e, "key");
    const std::string what = "secret \"" + key + "\"";
    if (!kubernetes::is_data_key(key)) return fault(what + " is no key that a Secret can have");
    if (!keys.insert(key).second) return fault(what + " is there twice");
    auto item = read_source(*e, what);
    if (!item.ok()) return item.error();
    out.secrets.push_back({key, std::move(*item)});
  }
  // What is resolved is not in the object. So the object says what it was resolved from.
  json::value content = out.object;
  content.get_object().erase("metadata");
  json::object& metadata = out.object.get_object()["metadata"].get_object();
  kubernetes::object_made(metadata, "annotations")[stamp::secrets] =
      hex(fingerprint(json::array{content, list}));
  return {};
}

Result<Step> read_step(json::value& entry, size_t index, const kind::Description& description) {
  if (!entry.is_object()) return fault("an entry of \"apply\" is not an object");
  json::object& e = entry.get_object();
  if (auto r = only(e, {"object", "secrets", "mode", "owner", "controller", "replace_on_immutable"},
                    "an entry of \"apply\"");
      !r.ok()) {
    return r.error();
  }
  json::value* object = e.if_contains("object");
  if (object == nullptr || !object->is_object())
    return fault("an entry of \"apply\" has no object");
  Step out;
  out.object = std::move(*object);
  const json::object& rendered = out.object.get_object();
  out.as = resource_of(rendered, description);
  if (out.as == nullptr) {
    return fault("object " + text_in(rendered, "apiVersion") + " " + text_in(rendered, "kind") +
                 " is not one that the kind describes");
  }
  const std::string mode = text_in(e, "mode");
  if (mode == "ensure") {
    out.mode = Mode::ensure;
  } else if (mode == "shared") {
    out.mode = Mode::shared;
  } else if (!mode.empty() && mode != "apply") {
    return fault("mode \"" + mode + "\" of an object");
  }
  const Meta meta = meta_of(rendered);
  if (meta.name.empty()) return fault("a " + out.as->kind + " without a name");
  if (out.as->namespaced == meta.ns.empty()) {
    return fault(out.as->kind + " " + meta.name +
                 (meta.ns.empty() ? " has no namespace" : " cannot have a namespace"));
  }
  out.name = {{out.as->group, out.as->version, out.as->resource}, meta.ns, meta.name};
  if (const json::value* owner = e.if_contains("owner"); owner != nullptr && !owner->is_null()) {
    const int64_t at = integer_at(e, "owner");
    if (at < 0 || static_cast<size_t>(at) >= index)
      return fault("an owner must stand before what it owns");
    out.owner = static_cast<size_t>(at);
  }
  out.controller = flag_at(e, "controller");
  out.replace_on_immutable = flag_at(e, "replace_on_immutable");
  if (const json::value* secrets = e.if_contains("secrets"); secrets != nullptr) {
    if (auto r = read_secrets(*secrets, out); !r.ok()) return r.error();
  }
  out.update_shape();
  return out;
}

Result<Removal> read_removal(const json::value& entry, const kind::Description& description) {
  if (!entry.is_object()) return fault("an entry of \"delete\" is not an object");
  const json::object& e = entry.get_object();
  if (auto r = only(e, object_members, "an entry of \"delete\""); !r.ok()) return r.error();
  Removal out;
  out.name = {{text_in(e, "group"), text_in(e, "version"), text_in(e, "resource")},
              text_in(e, "namespace"),
              text_in(e, "name")};
  for (const auto& r : description.resources) {
    if (r.group == out.name.resource.group && r.resource == out.name.resource.resource) out.as = &r;
  }
  if (out.as == nullptr)
    return fault("resource \"" + out.name.resource.resource +
                 "\" is not one that the kind describes");
  if (out.as->role == DAVIT_RESOURCE_ENSURED)
    return fault("a " + out.as->kind + " is ensured and never deleted");
  if (out.name.resource.version.empty()) out.name.resource.version = out.as->version;
  if (out.name.name.empty()) return fault("a delete without a name");
  return out;
}

Result<std::vector<Need>> read_needs(const json::value& list) {
  if (!list.is_array()) return fault("\"needs\" is not a list");
  if (list.get_array().size() > needs_max)
    return fault("more than " + std::to_string(needs_max) + " needs");
  std::vector<Need> out;
  for (const auto& entry : list.get_array()) {
    const json::object* e = entry.if_object();
    if (e == nullptr) return fault("an entry of \"needs\" is not an object");
    if (auto r = only(*e, {"id", "from", "ref"}, "an entry of \"needs\""); !r.ok())
      return r.error();
    const std::string id = text_in(*e, "id");
    if (id.empty()) return fault("a need without an id");
    const std::string what = "need \"" + id + "\" ";
    if (const std::string from = text_in(*e, "from"); from != "object") {
      return fault(what + "is from \"" + from +
                   "\", which this applier does not know: it knows \"object\"");
    }
    const json::value* ref = e->if_contains("ref");
    if (ref == nullptr || !ref->is_object()) return fault(what + "has no ref");
    const json::object& r = ref->get_object();
    if (auto known = only(r, object_members, "the ref of " + what); !known.ok())
      return known.error();
    Need need{id,
              {{text_in(r, "group"), text_in(r, "version"), text_in(r, "resource")},
               text_in(r, "namespace"),
               text_in(r, "name")}};
    const ObjectName& o = need.object;
    if (o.resource.version.empty() || o.resource.resource.empty() || o.name.empty())
      return fault(what + "names no version, resource or name");
    out.push_back(std::move(need));
  }
  return out;
}

Result<> read_status(const json::object& from, Status& out) {
  if (auto r = only(from,
                    {"gone", "health", "desired", "updated", "ready", "stale", "message", "detail",
                     "children"},
                    "\"status\"");
      !r.ok()) {
    return r;
  }
  out.gone = flag_at(from, "gone");
  out.health = text_in(from, "health");
  out.desired = integer_at(from, "desired");
  out.updated = integer_at(from, "updated");
  out.ready = integer_at(from, "ready");
  out.stale = integer_at(from, "stale");
  out.message = text_in(from, "message");
  if (const json::value* detail = from.if_contains("detail");
      detail != nullptr && !detail->is_null()) {
    out.detail = json::serialize(*detail);
  }
  const json::array* children = kubernetes::array_in(from, "children");
  for (size_t i = 0; children != nullptr && i < children->size(); ++i) {
    const json::object* c = (*children)[i].if_object();
    if (c == nullptr) continue;
    if (auto r = only(*c, {"name", "address", "status", "cpu_millicores", "memory_mib"},
                      "a child of \"status\"");
        !r.ok()) {
      return r;
    }
    out.children.push_back({text_in(*c, "name"), text_in(*c, "address"), text_in(*c, "status"),
                            integer_at(*c, "cpu_millicores"), integer_at(*c, "memory_mib")});
  }
  return {};
}

}  // namespace

void Step::update_shape() {
  if (!metadata_only(name.resource.group, name.resource.resource)) return;
  const json::object& whole = object.get_object();
  json::object values;
  for (const SecretValue& value : secrets) values[value.key] = true;
  // Values that the kind itself has rendered: the hash does not change with them, so the kind says
  // elsewhere in the object that they are new.
  if (const json::object* data = kubernetes::object_in(whole, "data")) {
    for (const auto& member : *data) values[member.key()] = true;
  }
  secret_shape = {{"apiVersion", whole.at("apiVersion")},
                  {"kind", whole.at("kind")},
                  {"metadata", whole.at("metadata")},
                  {"values", std::move(values)}};
}

Result<Plan> read_plan(std::string_view output, const kind::Description& description) {
  boost::system::error_code bad;
  json::value root = json::parse(json::string_view(output.data(), output.size()), bad);
  if (bad || !root.is_object())
    return fault("reconcile answered something that is not a JSON object");
  json::object& o = root.get_object();
  if (auto r = only(o, {"apply", "delete", "status", "needs", "look_again_ms"}, "the answer");
      !r.ok()) {
    return r.error();
  }
  Plan out;
  if (const json::value* needs = o.if_contains("needs")) {
    auto read = read_needs(*needs);
    if (!read.ok()) return read.error();
    out.needs = std::move(*read);
    if (!out.needs.empty()) return out;
  }
  if (json::value* apply = o.if_contains("apply"); apply != nullptr && apply->is_array()) {
    for (auto& entry : apply->get_array()) {
      auto step = read_step(entry, out.steps.size(), description);
      if (!step.ok()) return step.error();
      out.steps.push_back(std::move(*step));
    }
  }
  const json::array* removals = kubernetes::array_in(o, "delete");
  for (size_t i = 0; removals != nullptr && i < removals->size(); ++i) {
    auto removal = read_removal((*removals)[i], description);
    if (!removal.ok()) return removal.error();
    out.removals.push_back(std::move(*removal));
  }
  const json::value* status = o.if_contains("status");
  if (status != nullptr && status->is_object()) {
    if (auto r = read_status(status->get_object(), out.status); !r.ok()) return r.error();
  }
  out.look_again = std::chrono::milliseconds(std::max<int64_t>(0, integer_at(o, "look_again_ms")));
  return out;
}

}  // namespace davit::applier
