// KindTest: the check of the documented shape of reconcile's answer (abi/kind.h), and the samples.
#include <fstream>
#include <set>

#include "kind.hpp"

namespace davit::conformance {
namespace {

bool is_text(const json::object& o, const char* key, bool may_miss = true) {
  const auto* v = o.if_contains(key);
  return v == nullptr ? may_miss : v->is_string();
}
bool is_flag(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v == nullptr || v->is_bool();
}
bool is_count(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  if (v == nullptr) return true;
  return v->is_uint64() || (v->is_int64() && v->get_int64() >= 0);
}

std::string child_fault(const json::value& child) {
  const auto* o = child.if_object();
  if (o == nullptr) return "a child is not an object";
  if (!is_text(*o, "name", false) || !is_text(*o, "address") || !is_text(*o, "status", false)) {
    return "a child without name or status";
  }
  const std::string status = text_at(child, "/status");
  const std::set<std::string> known{"pending", "running", "failed", "inactive"};
  if (known.count(status) == 0) return "status \"" + status + "\" of a child";
  return is_count(*o, "cpu_millicores") && is_count(*o, "memory_mib")
             ? ""
             : "a child's size is not a count";
}

std::string need_fault(const json::value& need) {
  const auto* o = need.if_object();
  if (o == nullptr) return "is not an object";
  for (const auto& member : *o) {
    if (member.key() != "id" && member.key() != "from" && member.key() != "ref")
      return "has the unknown member " + std::string(member.key());
  }
  if (text_at(need, "/id").empty()) return "has no id";
  if (text_at(need, "/from") != "object")
    return "is from \"" + text_at(need, "/from") + "\", which no feature of the input allows";
  for (const char* part : {"/ref/version", "/ref/resource", "/ref/name"}) {
    if (text_at(need, part).empty()) return std::string("has no ") + (part + 1);
  }
  return "";
}

std::string needs_fault(const json::array& needs) {
  std::set<std::string> ids;
  for (const auto& need : needs) {
    if (auto fault = need_fault(need); !fault.empty()) return "an entry of needs " + fault;
    if (!ids.insert(text_at(need, "/id")).second) return "two needs " + text_at(need, "/id");
  }
  return needs.size() > 32 ? "more than 32 needs" : "";
}

std::string status_fault(const json::value* status) {
  const auto* o = status == nullptr ? nullptr : status->if_object();
  if (o == nullptr) return "status is not an object";
  const std::set<std::string> known{"unknown", "progressing", "healthy", "unhealthy", "paused"};
  const std::string health = text_at(*status, "/health");
  if (known.count(health) == 0) return "health \"" + health + "\"";
  for (const char* key : {"desired", "updated", "ready", "stale"}) {
    if (!is_count(*o, key)) return std::string("status.") + key + " is not a count";
  }
  if (!is_flag(*o, "gone") || !is_text(*o, "message"))
    return "status.gone or status.message is of a wrong type";
  if (const auto* detail = o->if_contains("detail"); detail != nullptr && !detail->is_object()) {
    return "status.detail is not an object";
  }
  const auto* children = o->if_contains("children");
  if (children == nullptr) return "";
  if (!children->is_array()) return "status.children is not a list";
  for (const auto& child : children->get_array()) {
    if (auto fault = child_fault(child); !fault.empty()) return fault;
  }
  return "";
}

const json::array& list(const json::object& o, const char* key) {
  static const json::array none;
  const auto* v = o.if_contains(key);
  return v == nullptr || !v->is_array() ? none : v->get_array();
}

}  // namespace

std::string text_at(const json::value& from, std::string_view pointer) {
  json::error_code none;
  const auto* v = from.find_pointer({pointer.data(), pointer.size()}, none);
  const auto* s = v == nullptr ? nullptr : v->if_string();
  return s == nullptr ? std::string() : std::string(s->data(), s->size());
}

const kind::Resource* KindTest::described(const std::string& group,
                                          const std::string& resource) const {
  for (const auto& r : description().resources) {
    if (r.group == group && r.resource == resource) return &r;
  }
  return nullptr;
}

const kind::Resource* KindTest::described_kind(const json::value& object) const {
  const std::string version = text_at(object, "/apiVersion");
  const size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  for (const auto& r : description().resources) {
    const bool same_version = (group.empty() ? r.version : group + "/" + r.version) == version;
    if (r.group == group && same_version && r.kind == text_at(object, "/kind")) return &r;
  }
  return nullptr;
}

// Whether the object's labels match the selector of its resource. It understands only the terms
// "key=value" and "key".
bool KindTest::watched(const json::value& object) const {
  const auto* resource = described_kind(object);
  if (resource == nullptr || resource->selector.empty()) return false;
  std::istringstream terms(resource->selector);
  for (std::string term; std::getline(terms, term, ',');) {
    const size_t at = term.find('=');
    json::error_code none;
    const auto* found = object.find_pointer("/metadata/labels", none);
    const auto* labels = found == nullptr ? nullptr : found->if_object();
    const auto* value = labels == nullptr ? nullptr : labels->if_contains(term.substr(0, at));
    if (value == nullptr || !value->is_string()) return false;
    if (at != std::string::npos && value->get_string() != term.substr(at + 1)) return false;
  }
  return true;
}

std::string KindTest::step_fault(const json::value& step, size_t index) const {
  const auto* o = step.if_object();
  const auto* object = o == nullptr ? nullptr : o->if_contains("object");
  if (object == nullptr || !object->is_object()) return "has no object";
  const auto* resource = described_kind(*object);
  if (resource == nullptr) return "is a " + text_at(*object, "/kind") + ", which is not described";
  if (text_at(*object, "/metadata/name").empty()) return "has no name";
  if (text_at(*object, "/metadata/namespace").empty() == resource->namespaced)
    return "has the wrong scope";
  const std::string mode = o->contains("mode") ? text_at(step, "/mode") : "apply";
  if (mode != "apply" && mode != "ensure" && mode != "shared") return "has mode \"" + mode + "\"";
  if (resource->role == DAVIT_RESOURCE_SEEN) return "is a resource that is only seen";
  if ((mode == "ensure") != (resource->role == DAVIT_RESOURCE_ENSURED))
    return "has a mode that is not its resource's";
  if (const auto* owner = o->if_contains("owner")) {
    json::error_code bad;
    const auto at = owner->to_number<uint64_t>(bad);
    if (bad || at >= index) return "has an owner that does not stand before it";
  }
  return is_flag(*o, "controller") && is_flag(*o, "replace_on_immutable")
             ? ""
             : "has a flag that is none";
}

std::string KindTest::removal_fault(const json::value& removal) const {
  const auto* o = removal.if_object();
  if (o == nullptr) return "is not an object";
  if (!is_text(*o, "group", false) || !is_text(*o, "version", false) ||
      !is_text(*o, "resource", false)) {
    return "does not name its resource";
  }
  const auto* resource = described(text_at(removal, "/group"), text_at(removal, "/resource"));
  if (resource == nullptr)
    return "is of resource " + text_at(removal, "/resource") + ", which is not described";
  if (resource->role == DAVIT_RESOURCE_ENSURED) return "is ensured, which is never deleted";
  if (text_at(removal, "/namespace").empty() == resource->namespaced) return "has the wrong scope";
  return text_at(removal, "/name").empty() ? "has no name" : "";
}

kind::Class KindTest::class_of(const std::string& state, const std::string& apply) const {
  const auto found = kind_.classify(state, apply);
  EXPECT_TRUE(found.ok()) << why(found);
  return found.ok() ? *found : kind::Class::unhandled;
}

std::string KindTest::shape_fault(const std::string& output) const {
  json::error_code error;
  const json::value root = json::parse(output, error);
  if (error || !root.is_object()) return "the answer is not a JSON object: " + output;
  const auto& o = root.get_object();
  for (const auto& member : o) {
    const std::set<std::string_view> known{"apply", "delete", "status", "needs", "look_again_ms"};
    if (known.count(std::string_view(member.key().data(), member.key().size())) == 0) {
      return "unknown member " + std::string(member.key());
    }
  }
  for (const char* key : {"apply", "delete", "needs"}) {
    if (o.contains(key) && !o.at(key).is_array()) return std::string(key) + " is not a list";
  }
  if (!list(o, "needs").empty()) return needs_fault(list(o, "needs"));
  std::set<std::string> names;
  size_t index = 0;
  for (const auto& step : list(o, "apply")) {
    const std::string at = "apply[" + std::to_string(index) + "] ";
    if (auto fault = step_fault(step, index); !fault.empty()) return at + fault;
    const std::string name = text_at(step, "/object/kind") + " " +
                             text_at(step, "/object/metadata/namespace") + "/" +
                             text_at(step, "/object/metadata/name");
    if (!names.insert(name).second) return at + "is there twice: " + name;
    ++index;
  }
  for (const auto& removal : list(o, "delete")) {
    if (auto fault = removal_fault(removal); !fault.empty()) return "an entry of delete " + fault;
  }
  if (!is_count(o, "look_again_ms")) return "look_again_ms is not a count";
  return status_fault(o.if_contains("status"));
}

json::value file_of(const char* option) {
  const std::string name = subject().options.string(option);
  if (name.empty()) return nullptr;
  const std::string& config = subject().config_file;
  const size_t slash = config.rfind('/');
  const bool as_it_is = slash == std::string::npos || name.front() == '/';
  const std::string path = as_it_is ? name : config.substr(0, slash + 1) + name;
  std::ifstream in(path);
  json::error_code error;
  json::value all = json::parse(std::string(std::istreambuf_iterator<char>(in), {}), error);
  if (error) ADD_FAILURE() << path << ": " << error.message();
  return all;
}

json::value given_for(const std::string& id) {
  const json::value all = file_of("given");
  const auto* o = all.if_object();
  const auto* found = o == nullptr ? nullptr : o->if_contains(id);
  return found == nullptr ? json::value() : *found;
}

std::string with_given(const std::string& input, const json::object& given) {
  json::value root = json::parse(input);
  root.as_object()["features"] = boost::json::array{"needs/object"};
  if (!given.empty()) root.as_object()["given"] = given;
  return json::serialize(root);
}

Result<std::string> KindTest::settled(const std::string& input) const {
  json::object given;
  for (int round = 0; round <= 4; ++round) {
    auto output = kind_.reconcile(with_given(input, given));
    json::error_code error;
    const json::value root = output.ok() ? json::parse(*output, error) : json::value();
    const auto* o = root.if_object();
    if (o == nullptr || list(*o, "needs").empty()) return output;
    if (auto fault = shape_fault(*output); !fault.empty())
      return Error{Code::internal, fault, {}, {}};
    for (const auto& need : list(*o, "needs")) {
      const std::string id = text_at(need, "/id");
      if (given.contains(id))
        return Error{Code::internal, "asks again for " + id + ", which it was given", {}, {}};
      given[id] = given_for(id);
    }
  }
  return Error{Code::internal, "needs more after four answers", {}, {}};
}

std::vector<json::object> samples() {
  const json::value all = file_of("samples");
  if (all.is_null()) return {};
  if (!all.is_array()) {
    ADD_FAILURE() << "conformance.samples: not a list of apply messages";
    return {};
  }
  std::vector<json::object> out;
  for (const auto& one : all.get_array()) out.push_back(one.as_object());
  return out;
}

std::string input_of(const Named& named, const json::value* desired, const json::array& observed) {
  json::object root{{"record",
                     {{"id", named.id},
                      {"region", "test-1"},
                      {"namespace", named.ns},
                      {"name", named.name},
                      {"version", "17"},
                      {"state", "running"},
                      {"annotations", {{"example.com/note", "kept"}}}}},
                    {"observed", observed},
                    {"now_unix_ms", 1'767'225'600'000}};
  if (desired != nullptr) root["desired"] = *desired;
  return json::serialize(root);
}

}  // namespace davit::conformance
