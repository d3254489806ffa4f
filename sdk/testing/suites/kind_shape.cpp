// KindTest: the check of the documented shape of reconcile's answer (abi/kind.h), and the samples.
#include <fstream>
#include <set>

#include "json_schema.hpp"
#include "kind.hpp"

namespace davit::conformance {
namespace {

// Two needs of one id would have one answer.
std::string needs_fault(const json::array& needs) {
  std::set<std::string> ids;
  for (const auto& need : needs) {
    if (!ids.insert(text_at(need, "/id")).second) return "two needs " + text_at(need, "/id");
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
  const json::object& o = step.get_object();
  const auto* resource = described_kind(o.at("object"));
  if (resource == nullptr)
    return "is a " + text_at(step, "/object/kind") + ", which is not described";
  if (text_at(step, "/object/metadata/namespace").empty() == resource->namespaced)
    return "has the wrong scope";
  if (resource->role == DAVIT_RESOURCE_SEEN) return "is a resource that is only seen";
  const bool ensures = text_at(step, "/mode") == "ensure";
  if (ensures != (resource->role == DAVIT_RESOURCE_ENSURED))
    return "has a mode that is not its resource's";
  const auto* owner = o.if_contains("owner");
  if (owner != nullptr && owner->to_number<uint64_t>() >= index)
    return "has an owner that does not stand before it";
  return "";
}

std::string KindTest::removal_fault(const json::value& removal) const {
  const auto* resource = described(text_at(removal, "/group"), text_at(removal, "/resource"));
  if (resource == nullptr)
    return "is of resource " + text_at(removal, "/resource") + ", which is not described";
  if (resource->role == DAVIT_RESOURCE_ENSURED) return "is ensured, which is never deleted";
  if (text_at(removal, "/namespace").empty() == resource->namespaced) return "has the wrong scope";
  return "";
}

kind::Class KindTest::class_of(const std::string& state, const std::string& apply) const {
  const auto found = kind_.classify(state, apply);
  EXPECT_TRUE(found.ok()) << why(found);
  return found.ok() ? *found : kind::Class::unhandled;
}

std::string KindTest::shape_fault(const std::string& output) const {
  if (auto fault = reconcile_output_schema().fault(output); !fault.empty())
    return fault + " (reconcile_output.schema.json): " + output;
  const json::value root = json::parse(output);
  const auto& o = root.get_object();
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
  return "";
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
  root.as_object()["features"] = boost::json::array{"needs/object", "apply/secrets"};
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
    if (auto fault = shape_fault(*output); !fault.empty()) return Error{Code::internal, fault};
    for (const auto& need : list(*o, "needs")) {
      const std::string id = text_at(need, "/id");
      if (given.contains(id))
        return Error{Code::internal, "asks again for " + id + ", which it was given"};
      given[id] = given_for(id);
    }
  }
  return Error{Code::internal, "needs more after four answers"};
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
