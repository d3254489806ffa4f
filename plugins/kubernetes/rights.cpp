#include "rights.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace davit::kubernetes {
namespace json = boost::json;

std::string listed(const Verbs& verbs) {
  std::string out;
  for (const auto& verb : verbs) out += (out.empty() ? "" : ", ") + verb;
  return out;
}

std::string cluster_role(const std::string& name, const std::vector<Right>& rights) {
  std::vector<std::pair<const Right*, Verbs>> rules;  // in the order of the rights
  for (const Right& right : rights) {
    const auto same = [&right](const auto& rule) { return rule.first->name() == right.name(); };
    auto rule = std::find_if(rules.begin(), rules.end(), same);
    if (rule == rules.end()) rule = rules.insert(rules.end(), {&right, {}});
    rule->second.push_back(right.verb);
  }
  std::string out =
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: ClusterRole\n"
      "metadata:\n"
      "  name: " +
      name +
      "\n"
      "rules:\n";
  for (const auto& [right, verbs] : rules) {
    out += "- apiGroups: [\"" + right->group + "\"]\n  resources: [" + right->resource +
           "]\n  verbs: [" + listed(verbs) + "]\n";
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

std::string denied(const Verbs& verbs, const std::string& resource, const std::string& group) {
  return "the agent's account may not " + listed(verbs) + " " + resource + " (API group \"" +
         group + "\") in all namespaces";
}

}  // namespace davit::kubernetes
