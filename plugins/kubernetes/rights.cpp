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

namespace {

// The role for the rights of one namespace; of no namespace: a ClusterRole.
std::string role(const std::string& name, const std::string& ns, const std::vector<Right>& rights) {
  std::vector<std::pair<const Right*, Verbs>> rules;  // in the order of the rights
  for (const Right& right : rights) {
    if (right.ns != ns) continue;
    const auto same = [&right](const auto& rule) { return rule.first->name() == right.name(); };
    auto rule = std::find_if(rules.begin(), rules.end(), same);
    if (rule == rules.end()) rule = rules.insert(rules.end(), {&right, {}});
    rule->second.push_back(right.verb);
  }
  std::string out = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ";
  out += ns.empty() ? "ClusterRole" : "Role";
  out += "\nmetadata:\n  name: " + name + "\n";
  if (!ns.empty()) out += "  namespace: " + ns + "\n";
  out += "rules:\n";
  for (const auto& [right, verbs] : rules) {
    out += "- apiGroups: [\"" + right->group + "\"]\n  resources: [" + right->in_role() +
           "]\n  verbs: [" + listed(verbs) + "]\n";
  }
  return out;
}

}  // namespace

std::string cluster_role(const std::string& name, const std::vector<Right>& rights) {
  std::vector<std::string> places;
  for (const Right& right : rights) {
    if (std::find(places.begin(), places.end(), right.ns) == places.end())
      places.push_back(right.ns);
  }
  if (places.empty()) places = {""};
  std::string out;
  for (const auto& ns : places) out += (out.empty() ? "" : "---\n") + role(name, ns, rights);
  return out;
}

cluster::Request review_of(const Right& right) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
  json::object attributes{{"verb", right.verb},
                          {"group", right.group},
                          {"version", right.version},
                          {"resource", right.resource}};
  if (!right.subresource.empty()) attributes["subresource"] = right.subresource;
  if (!right.ns.empty()) attributes["namespace"] = right.ns;
  if (!right.ns.empty() && !right.namespaced) attributes["name"] = right.ns;  // the namespace
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

std::string denied(const Verbs& verbs, const std::string& resource, const std::string& group,
                   const std::string& ns) {
  return "the agent's account may not " + listed(verbs) + " " + resource + " (API group \"" +
         group + "\") in " + (ns.empty() ? "all namespaces" : "namespace \"" + ns + "\"");
}

}  // namespace davit::kubernetes
