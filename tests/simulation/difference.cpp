// What is not as it should be once nothing goes wrong any more: in the cluster, in the agents'
// cursors, and in the store's statuses.
#include "world.hpp"

namespace davit::simulation {

std::string World::difference() {
  for (const auto& kind : kinds()) {
    std::map<Name, json::value> objects;
    for (const auto& item : list(kind.resource, "")) {
      if (const Stamp stamp = stamp_of(item); stamp && stamp.name.kind == kind.kind)
        objects[stamp.name] = item;
    }
    std::set<Name> theirs;
    for (const auto& [name, object] : objects) theirs.insert(name);
    for (const auto& [name, written] : history_.all()) {
      if (name.kind != kind.kind) continue;
      const auto found = objects.extract(name);
      if (contested_ && name.name == contested_name().name) continue;
      const Written& wanted = History::now(written);
      const bool others = found.empty() && theirs.contains(of_other_region(name));
      const auto left =
          others ? wanted.live && !wanted.held ? rival_difference(name) : ""
                 : difference(name, wanted, found.empty() ? json::value() : found.mapped());
      if (!left.empty()) return display(name) + " " + left;
    }
    std::erase_if(objects, [&](const auto& found) {
      return contested_ && found.first.name == contested_name().name;
    });
    if (!objects.empty()) return display(objects.begin()->first) + " is no record's";
  }
  if (object({"apps", "v1", "replicasets"}, "others", "stranger").at("spec") != stranger_)
    return "a stranger's object was changed";
  if (scene_ != Scene::ctrl) {
    if (auto left = cursor_difference(); !left.empty()) return left;
  }
  if (auto left = issue_difference(); !left.empty()) return left;
  return status_difference();
}

std::string World::difference(const Name& name, const Written& wanted, const json::value& object) {
  if (wanted.held) return {};
  if (!wanted.live) return object.is_null() ? "" : "is dead and still there";
  if (object.is_null()) return "is missing";
  const Stamp stamp = stamp_of(object);
  if (stamp.made_of.version != wanted.version) {
    return "is at " + to_string(stamp.made_of.version) + " and not at " + to_string(wanted.version);
  }
  const json::value spec = json::parse(wanted.spec);
  if (name.kind == "cilium_network_policy") {
    return text_at(object, "/spec/description") == text_at(spec, "/policy/spec/description")
               ? ""
               : "was meddled with";
  }
  if (text_at(object, "/spec/template/spec/containers/0/image") != text_at(spec, "/image"))
    return "has another image";
  if (!text_at(object, "/spec/template/spec/containers/0/env/0/valueFrom/fieldRef/fieldPath")
           .empty())
    return "has a variable with another value";
  if (object.at("spec").at("replicas").to_number<int>() != spec.at("replicas").to_number<int>())
    return "has other replicas";
  return {};
}

// The agent that works has come as far as the store.
std::string World::cursor_difference() const {
  std::map<std::pair<std::string, std::string>, Version> last;
  for (const auto& [name, written] : history_.all()) {
    Version& version = last[{name.kind, name.region}];
    for (const auto& w : written) version = std::max(version, w.version);
  }
  for (const auto& [stream, version] : last) {
    const auto& [kind, where] = stream;
    Version heard;
    for (const auto& agent : agents_) {
      if (agent->region != where) continue;
      if (const auto it = agent->heard.find(kind); it != agent->heard.end())
        heard = std::max(heard, it->second.version);
    }
    if (heard < version) return "the cursor of " + kind + " is at " + to_string(heard);
  }
  return {};
}

// What is said to be orphaned is no live record's, and everything is seen.
std::string World::issue_difference() const {
  for (const auto& agent : agents_) {
    if (rivals() ? !agent->side.up : agent->process != worker_) continue;
    for (const Issue& issue : agent->issues) {
      if (issue.condition == DAVIT_ISSUE_BLIND)
        return issue.name + " is said not to be seen by agent " + agent->name;
      const auto written = history_.all().find({issue.kind, issue.ns, issue.name, agent->region});
      if (issue.condition != DAVIT_ISSUE_ORPHANED || written == history_.all().end()) continue;
      const Written& last = History::now(written->second);
      if (last.live && !last.held) return display(written->first) + " is said to be orphaned";
    }
  }
  return {};
}

// Another region has the name: an agent says so, and whose it is.
std::string World::rival_difference(const Name& name) const {
  const std::string owner = "belongs to region \"" + of_other_region(name).region + "\"";
  for (const auto& agent : agents_) {
    if (agent->region != name.region || !agent->side.up) continue;
    const bool said =
        std::any_of(agent->issues.begin(), agent->issues.end(), [&](const Issue& issue) {
          return issue.kind == name.kind && issue.ns == name.ns && issue.name == name.name &&
                 issue.condition == DAVIT_ISSUE_PARKED &&
                 issue.reason.find(owner) != std::string::npos;
        });
    if (said) return {};
  }
  return "is another region's, and nobody says so";
}

bool World::stands_for_other(const Name& name, const json::value& object) const {
  const std::string owner = stamp_of(object).region;
  return rivals() && !owner.empty() && owner != name.region;
}

std::string World::status_difference() {
  std::map<Key, Status> statuses;
  const auto read = storage_.inner().statuses({{}, {}, 1000}, [&](const davit_status& s) {
    Status status = from_abi(s);
    statuses[status.key] = status;
    return true;
  });
  if (!read.ok()) return read.error().message;
  for (const auto& [name, written] : history_.all()) {
    const Written& wanted = History::now(written);
    // That wire has no report for a policy.
    const bool told = scene_ != Scene::ctrl || name.kind != "cilium_network_policy";
    if (wanted.held || !told || (contested_ && name.name == contested_name().name)) continue;
    const Kind& kind = *kind_of(name.kind);
    if (stands_for_other(name, object(kind.resource, name.ns, name.name))) continue;
    const auto found = statuses.find({name.kind, name.region, wanted.id});
    const bool missing = found == statuses.end();
    std::string left;
    if (wanted.live) {
      left = missing ? "is missing" : status_difference(name, wanted, found->second);
    } else if (!missing && !found->second.gone) {
      left = "of version " + to_string(found->second.observed_version) + " does not say gone";
    }
    if (left.empty()) left = predecessor_difference(name, written, statuses);
    if (!left.empty()) return "the status of " + display(name) + " " + left;
  }
  return {};
}

// Records that had the name before and are dead have nothing in the cluster. Over ctrl.v1, which
// knows records by their names, nobody can say so.
std::string World::predecessor_difference(const Name& name, const std::vector<Written>& writes,
                                          const std::map<Key, Status>& statuses) const {
  const std::string& owner = History::now(writes).id;
  for (const Written& w : writes) {
    const auto found = statuses.find({name.kind, name.region, w.id});
    if (w.id == owner || scene_ == Scene::ctrl || found == statuses.end()) continue;
    if (!found->second.gone) return "of " + w.id + ", which had the name before, does not say gone";
  }
  return {};
}

std::string World::status_difference(const Name& name, const Written& wanted,
                                     const Status& status) {
  if (status.observed_version != wanted.version)
    return "speaks of " + to_string(status.observed_version) + " and not of " +
           to_string(wanted.version);
  if (status.health != "healthy" || status.gone)
    return "says " + (status.gone ? "gone" : status.health) + ": " + status.message;
  if (name.kind == "cilium_network_policy") return {};
  const int64_t replicas = json::parse(wanted.spec).at("replicas").to_number<int64_t>();
  if (status.desired != replicas || status.ready != replicas)
    return "says " + std::to_string(status.ready) + " of " + std::to_string(status.desired);
  std::set<std::string> said, there;
  for (const Child& child : status.children) said.insert(child.name);
  const std::string image = text_at(json::parse(wanted.spec), "/image");
  for (const auto& pod : list({"", "v1", "pods"}, name.ns)) {
    const std::string called = text_at(pod, "/metadata/name");
    if (!called.starts_with(name.name + "-")) continue;
    there.insert(called);
    if (text_at(pod, "/spec/containers/0/image") != image) return "is of pods of another image";
  }
  return scene_ == Scene::ctrl || said == there ? "" : "names other pods";
}

json::array World::list(const cluster::Resource& r, const std::string& ns) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = r;
  q.ns = ns;
  return json::parse(call(q).body).at("items").as_array();
}

json::value World::object(const cluster::Resource& r, const std::string& ns,
                          const std::string& name) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = r;
  q.ns = ns;
  q.name = name;
  return json::parse(call(q).body);
}

cluster::Response World::call(const cluster::Request& q) {
  std::optional<cluster::Response> out;
  cluster_.request(q, [&](cluster::Response r) { out = std::move(r); });
  host_.run();
  if (!out) throw std::runtime_error("the cluster did not answer");
  return *out;
}

}  // namespace davit::simulation
