#include "rights.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "meaning.hpp"
#include "watches.hpp"

namespace davit::applier {

namespace json = boost::json;

std::string name_of(const kind::Resource& r) {
  return r.group.empty() ? r.resource : r.resource + "." + r.group;
}

std::vector<Right> rights_of(const kind::Description& description,
                             const std::vector<kind::Need>& needs) {
  std::vector<Right> out;
  const auto need = [&](const auto& of, const std::string& verb, bool namespaced) {
    Right right{verb, of.group, of.version, of.resource, namespaced};
    if (std::find(out.begin(), out.end(), right) == out.end()) out.push_back(std::move(right));
  };
  for (const auto& r : description.resources) {
    if (watched(r)) {
      need(r, "list", r.namespaced);
      need(r, "watch", r.namespaced);
    }
    if (r.role == DAVIT_RESOURCE_OWNED) {
      for (const char* verb : {"get", "create", "patch", "delete"}) need(r, verb, r.namespaced);
    }
    if (r.role == DAVIT_RESOURCE_ENSURED) {
      need(r, "get", r.namespaced);
      need(r, "create", r.namespaced);
    }
  }
  for (const auto& n : needs) {
    for (const auto& verb : n.verbs) need(n, verb, n.name.empty());
    if (!n.name.empty()) need(n, "get", false);  // a need has no namespace
  }
  return out;
}

std::string cluster_role(const std::vector<Right>& rights) {
  return kubernetes::cluster_role("davit-agent", rights);
}

void add(Missing& missing, const Right& right) {
  missing[{right.name(), right.ns}].push_back(right.verb);
}

std::string way_out(const std::vector<kind::Need>& needs, const std::string& name,
                    const Verbs& verbs) {
  const auto covers = [&](const kind::Need& n) {
    if (n.setting.empty() || Right{{}, n.group, {}, n.resource}.name() != name) return false;
    // The setting must cover all of the missing verbs.
    return n.verbs.empty() || std::all_of(verbs.begin(), verbs.end(), [&n](const auto& verb) {
             return std::find(n.verbs.begin(), n.verbs.end(), verb) != n.verbs.end();
           });
  };
  const auto found = std::find_if(needs.begin(), needs.end(), covers);
  return found == needs.end() ? std::string() : found->setting;
}

std::string describe(const Spot& spot, const Verbs& verbs, const std::string& setting) {
  const size_t dot = spot.name.find('.');
  const std::string group = dot == std::string::npos ? std::string() : spot.name.substr(dot + 1);
  return kubernetes::denied(verbs, spot.name.substr(0, dot), group, spot.ns) +
         (spot.ns.empty() ? ": grant it by a ClusterRole"
                          : ": grant it by a Role in namespace " + spot.ns) +
         (setting.empty() ? "" : ", or set " + setting);
}

std::string Part::shown() const {
  return resource + "." + group + (name.empty() ? "/" + version : " " + name);
}

std::vector<Part> parts_of(const kind::Description& description,
                           const std::vector<kind::Need>& needs) {
  std::vector<Part> out;
  for (const auto& r : description.resources) {
    if (watched(r) && !r.group.empty())
      out.push_back({r.group, r.version, r.resource, {}, r.namespaced});
  }
  for (const auto& n : needs) {
    if (!n.name.empty()) out.push_back({n.group, n.version, n.resource, n.name, false});
  }
  return out;
}

cluster::Request look_for(const Part& part, const std::string& ns) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = {part.group, part.version, part.resource};
  q.name = part.name;
  if (part.namespaced) q.ns = ns;
  if (part.name.empty()) q.query = {{"limit", "1"}};
  return q;
}

bool is_missing(const Part& part, const cluster::Response& answer) {
  if (meaning(answer, true) != Meaning::absent) return false;
  if (part.name.empty()) return true;
  // A server that does not know the resource cannot say that the object is needed and absent.
  boost::system::error_code bad;
  const json::value status = json::parse(answer.body, bad);
  if (bad) return false;
  const json::value* name = status.find_pointer("/details/name", bad);
  return !bad && name->is_string() && name->get_string() == part.name;
}

std::string describe_missing(const Part& part, const std::vector<kind::Need>& needs) {
  std::string setting;
  for (const auto& n : needs) {
    if (n.group == part.group && n.resource == part.resource && n.name == part.name &&
        n.verbs.empty())
      setting = n.setting;
  }
  return "the cluster has no " + part.shown() +
         (part.name.empty() ? ": install its definition, or " : ": create it, or ") +
         (setting.empty() ? "leave this kind's plugin out of the agent's configuration"
                          : "set " + setting);
}

}  // namespace davit::applier
