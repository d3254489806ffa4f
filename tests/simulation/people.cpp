// What operators do, and strangers with kubectl.
#include "world.hpp"

#include <davit/v1/operator.pb.h>

namespace davit::simulation {

namespace {

constexpr const char* region = "eu";
constexpr uint64_t names = 6;  // of each kind: few, so that things happen to the same one

// What the server answered; answers of all methods that change something begin alike.
std::string said(const std::string& answer) {
  v1::ApplyResponse response;
  if (!response.ParseFromString(answer) || response.outcomes_size() == 0) return "done";
  const auto& o = response.outcomes(0);
  return o.outcome() + (o.version() == 0 ? "" : " @" + std::to_string(o.version())) +
         (o.message().empty() ? "" : ": " + o.message());
}

}  // namespace

json::object World::spec(const std::string& kind, uint64_t number) {
  const std::string n = std::to_string(number);
  json::object o{{"workspace_id", "ws"}, {"project_id", "p"}, {"environment_id", "e"}};
  if (kind == "cilium_network_policy") {
    o = {{"k8s_namespace", "shop"}, {"k8s_name", "net-" + n}};
    o["policy"] = json::parse(
        R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":{"description":")" +
        std::to_string(changes_) + R"(","endpointSelector":{"matchLabels":{"a":"b"}}}})");
    return o;
  }
  o["image"] = "registry.example/app:" + std::to_string(changes_);
  o["replicas"] = 1 + fate_.below(3);
  o["cpu_millicores"] = "100";
  o["memory_mib"] = "64";
  if (kind == "sentinel") {
    o["k8s_name"] = "edge-" + n;
  } else {
    o["k8s_namespace"] = "shop";
    o["k8s_name"] = "app-" + n;
    o["app_id"] = "a";
    o["port"] = 8080;
  }
  return o;
}

void World::apply_something() {
  const std::string kind = kinds()[fate_.below(kinds().size())].kind;
  const uint64_t number = fate_.below(names);
  ++changes_;
  v1::ApplyRequest request;
  auto& document = *request.add_documents();
  document.set_kind(kind);
  document.set_region(region);
  // Now and then another record wants the name: refused while the first one lives.
  const std::string id = kind.substr(0, 1) + std::to_string(number) +
                         (fate_.chance(0.2) ? "x" + std::to_string(fate_.below(3)) : "");
  document.set_id(id);
  json::object s = spec(kind, number);
  s[kind + "_id"] = id;
  document.set_spec_json(json::serialize(s));
  std::string how;
  if (kind == "deployment" && fate_.chance(0.1)) {
    document.set_state("archived");
    how = " archived";
  }
  if (fate_.chance(0.1)) {
    (*document.mutable_annotations())["davit.dev/pause"] = "true";
    how += " paused";
  }
  ask("Apply", request.SerializeAsString(), "apply " + kind + " " + id + how);
}

void World::delete_something() {
  const std::string kind = kinds()[fate_.below(kinds().size())].kind;
  v1::DeleteRequest request;
  auto& key = *request.add_keys();
  key.set_kind(kind);
  key.set_region(region);
  key.set_id(kind.substr(0, 1) + std::to_string(fate_.below(names)));
  ask("Delete", request.SerializeAsString(), "delete " + kind + " " + key.id());
}

void World::purge() {
  ask("Maintain", v1::MaintainRequest().SerializeAsString(), "purge");
}

void World::ask(const std::string& method, std::string request, const std::string& what) {
  if (!server_.up) return;
  link_.ask("davit.v1.OperatorService/" + method, std::move(request),
            [this, what](const Result<std::string>& r) {
              story_.tell(what + ": " + (r.ok() ? said(*r) : r.error().message));
            });
}

// Somebody with kubectl.
void World::meddle() {
  const Kind& kind = kinds()[fate_.below(kinds().size())];
  std::vector<Name> there;
  for (const auto& [name, written] : history_.all()) {
    if (name.kind == kind.kind) there.push_back(name);
  }
  if (there.empty()) return;
  const Name& name = there[fate_.below(there.size())];
  cluster::Request q;
  q.resource = kind.resource;
  q.ns = name.ns;
  q.name = name.name;
  q.verb = fate_.chance(0.4) ? DAVIT_VERB_DELETE : DAVIT_VERB_MERGE;
  if (q.verb == DAVIT_VERB_MERGE) {
    q.body = name.kind == "cilium_network_policy" ? R"({"spec":{"description":"meddled"}})"
                                                  : R"({"spec":{"replicas":9}})";
  }
  const auto r = call(q);
  if (r.code == Code::ok) story_.tell("somebody sends " + q.verb + " of " + display(name));
}

}  // namespace davit::simulation
