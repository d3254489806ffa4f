#include "rights.hpp"

#include <boost/json.hpp>

#include "watches.hpp"

namespace davit::applier {

namespace json = boost::json;

std::string name_of(const kind::Resource& r) {
  return r.group.empty() ? r.resource : r.resource + "." + r.group;
}

std::vector<Right> rights_of(const kind::Description& description) {
  std::vector<Right> out;
  for (const auto& r : description.resources) {
    const auto need = [&](const char* verb) {
      out.push_back({verb, r.group, r.version, r.resource});
    };
    if (watched(r)) {
      need("list");
      need("watch");
    }
    if (r.role == DAVIT_RESOURCE_OWNED) {
      for (const char* verb : {"get", "create", "patch", "delete"}) need(verb);
    }
    if (r.role == DAVIT_RESOURCE_ENSURED) {
      need("get");
      need("create");
    }
  }
  return out;
}

cluster::Request review_of(const Right& right) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
  const json::object attributes{{"verb", right.verb},
                                {"group", right.group},
                                {"version", right.version},
                                {"resource", right.resource}};
  q.body = json::serialize(json::object{{"apiVersion", "authorization.k8s.io/v1"},
                                        {"kind", "SelfSubjectAccessReview"},
                                        {"spec", {{"resourceAttributes", attributes}}}});
  return q;
}

std::optional<bool> allowed(const cluster::Response& answer) {
  if (answer.code != Code::ok) return std::nullopt;
  boost::system::error_code bad;
  const json::value value = json::parse(answer.body, bad);
  if (bad) return std::nullopt;
  const json::value* out = value.find_pointer("/status/allowed", bad);
  if (out == nullptr || !out->is_bool()) return std::nullopt;
  return out->get_bool();
}

void add(Missing& missing, const Right& right) {
  std::string& verbs = missing[right.name()];
  verbs += (verbs.empty() ? "" : ", ") + right.verb;
}

std::string describe(const std::string& name, const std::string& verbs) {
  const size_t dot = name.find('.');
  const std::string group = dot == std::string::npos ? std::string() : name.substr(dot + 1);
  return "the agent's account may not " + verbs + " " + name.substr(0, dot) + " (API group \"" +
         group + "\") in all namespaces: grant it by a ClusterRole";
}

}  // namespace davit::applier
