#include "world.hpp"

#include <davit/v1/operator.pb.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace davit::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Config;
using testing::TestHost;

constexpr const char* region = "eu";
constexpr uint64_t names = 6;  // of each kind: few, so that things happen to the same one

void expect(const Result<>& r, const std::string& what) {
  if (!r.ok()) throw std::runtime_error(what + ": " + r.error().message);
}

std::string display(const Name& n) {
  return n.kind + " " + n.ns + "/" + n.name;
}

// Whether a thread of ours waits for somebody.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string fields;
  std::getline(file, fields);
  const size_t name_end = fields.rfind(')');
  return name_end != std::string::npos && fields.substr(name_end, 3) == ") S";
}

// What the server answered; answers of all methods that change something begin alike.
std::string said(const std::string& answer) {
  v1::ApplyResponse response;
  if (!response.ParseFromString(answer) || response.outcomes_size() == 0) return "done";
  const auto& o = response.outcomes(0);
  return o.outcome() + (o.version() == 0 ? "" : " @" + std::to_string(o.version())) +
         (o.message().empty() ? "" : ": " + o.message());
}

}  // namespace

World::World(uint64_t seed, Plugins plugins)
    : plugins_(std::move(plugins)),
      host_("world", {}, TestHost::Time::manual),
      fate_(seed),
      story_([this] { return host_.now(); }),
      link_(host_, fate_),
      storage_(fate_, history_, [this](const Progress& p) { check_cursor(p); }) {
  host_.seed(seed);
  host_.add_service(DAVIT_CODEC, codec_.table());
  host_.add_service(DAVIT_RPC, link_.table());
  host_.add_role("main", DAVIT_STORAGE, reinterpret_cast<davit_instance*>(&storage_),
                 storage::Role::vtable<ShakyStorage>());
  load(kinds_, "kind_deployment", "deployment", {{"min_ready_s", 0}});
  load(kinds_, "kind_sentinel", "sentinel", {});
  load(kinds_, "kind_cilium_network_policy", "cilium_network_policy", {});
  start_cluster();
  start_server();
  start_agent();
}

World::~World() {
  fate_.make_peace();
  crash_agent();
  crash_server();
  stop(cluster_side_);
}

void World::load(Side& side, const std::string& file, const std::string& name, Config config) {
  const auto other = plugins_.find(file);
  auto plugin =
      testing::Loaded::open(other != plugins_.end() ? other->second : PLUGINS "/" + file + ".so");
  if (!plugin.ok()) throw std::runtime_error(plugin.error().message);
  side.hosts.push_back(std::make_unique<TestHost>(host_, name, config));
  side.instances.push_back(
      std::make_unique<testing::Instance>(plugin->plugin(), *side.hosts.back()));
  expect(side.instances.back()->up(), name);
  host_.run();
  side.up = true;
}

void World::start_cluster() {
  load(cluster_side_, "cluster_memory", "kubernetes", {{"pod_ready_ms", 500}});
  cluster_ = cluster::Client(cluster_side_.instances.back()->ref(DAVIT_CLUSTER));
  shaky_.emplace(host_, fate_, cluster_, static_cast<ShakyCluster::Judge&>(*this));
  host_.add_role("cluster", DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(&*shaky_),
                 cluster::Role::vtable<ShakyCluster>());
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"", "v1", "namespaces"};
  q.body = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"others"}})";
  call(q);
  q.resource = {"apps", "v1", "replicasets"};
  q.ns = "others";
  q.body = R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"stranger",
      "labels":{"app.kubernetes.io/managed-by":"krane"}},"spec":{"replicas":1,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  call(q);
  stranger_ = object(q.resource, "others", "stranger").at("spec");
}

void World::start_server() {
  story_.tell("the server starts");
  load(server_, "storage_sqlite", "store", {{"path", folder_.path() + "/davit.db"}});
  storage_.stand_before(storage::Client(host_, server_.instances.back()->ref(DAVIT_STORAGE)));
  load(server_, "streamer", "streamer", {{"storage", "main"}});
  load(server_, "recorder", "recorder", {{"storage", "main"}});
  load(server_, "desired", "desired",
       {{"storage", "main"}, {"purge_interval_ms", 0}, {"purge_retention_ms", 0}});
}

void World::start_agent() {
  story_.tell("the agent starts");
  load(agent_, "reporter", "reporter", {{"server", "control"}});
  load(agent_, "applier", "applier", {{"cluster", "cluster"}, {"status", "reporter"}});
  load(agent_, "watcher", "watcher",
       {{"server", "control"}, {"sink", "applier"}, {"status", "reporter"}});
}

// stop() blocks until what it waits for has run, which is this thread's to do. The two take turns,
// or a seed would be another story each time. What takes the simulation's time gets it once nothing
// else moves.
void World::stop(Side& side) {
  while (!side.instances.empty()) {
    auto instance = std::move(side.instances.back());
    side.instances.pop_back();
    std::atomic<pid_t> id{0};
    std::atomic<bool> stopped{false};
    std::thread thread([&] {
      id = gettid();
      (void)instance->stop(std::chrono::hours(1));
      stopped = true;
    });
    for (int turns = 0; !stopped; ++turns) {
      while (!stopped && (id == 0 || !sleeps(id))) std::this_thread::yield();
      turns < 100 ? host_.run() : host_.advance(milliseconds(100));
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // it may have been woken
    }
    thread.join();
    host_.run();
    instance->destroy();
  }
  side.hosts.clear();
  side.up = false;
}

void World::crash_server() {
  if (!server_.up) return;
  story_.tell("the server crashes");
  link_.server_gone();
  host_.run();
  stop(server_);
}

void World::crash_agent() {
  if (!agent_.up) return;
  story_.tell("the agent crashes");
  link_.agent_gone();
  shaky_->asker_gone();
  host_.run();
  stop(agent_);
}

void World::live() {
  const auto what = fate_.below(1000);
  if (what < 250) {
    apply_something();
  } else if (what < 330) {
    delete_something();
  } else if (what < 480) {
    meddle();
  } else if (what < 490) {
    purge();
  } else if (what < 500) {
    story_.tell("the watches break");
    shaky_->break_watches();
  } else if (what < 506 && fate_.strikes(1)) {
    crash_server();
    server_up_at_ = now() + milliseconds(fate_.below(20'000));
  } else if (what < 512 && fate_.strikes(1)) {
    crash_agent();
    agent_up_at_ = now() + milliseconds(fate_.below(20'000));
  } else if (what < 516 && fate_.strikes(1)) {
    story_.tell("the API server goes away");
    shaky_->set_away(true);
    cluster_back_at_ = now() + milliseconds(fate_.below(30'000));
  } else if (what < 520 && fate_.strikes(1)) {
    story_.tell("the link is cut");
    link_.set_cut(true);
    link_back_at_ = now() + milliseconds(fate_.below(30'000));
  }
  host_.advance(milliseconds(1 + fate_.below(200)));
  if (!server_.up && now() >= server_up_at_) start_server();
  if (!agent_.up && now() >= agent_up_at_) start_agent();
  if (now() >= cluster_back_at_) shaky_->set_away(false);
  if (now() >= link_back_at_) link_.set_cut(false);
}

bool World::settle(seconds limit) {
  fate_.make_peace();
  story_.tell("peace");
  shaky_->set_away(false);
  link_.set_cut(false);
  if (!server_.up) start_server();
  if (!agent_.up) start_agent();
  std::string left;
  for (const auto until = now() + limit; now() < until; host_.advance(seconds(5))) {
    left = difference();
    if (left.empty()) return true;
  }
  story_.fault("not as desired after " + std::to_string(limit.count()) + " s: " + left);
  return false;
}

// --- what operators and strangers do
// ----------------------------------------------------------------------------------

std::string World::spec(const std::string& kind, uint64_t number) {
  const std::string n = std::to_string(number);
  json::object o{{"workspace_id", "ws"}, {"project_id", "p"}, {"environment_id", "e"}};
  if (kind == "cilium_network_policy") {
    o = {{"k8s_namespace", "shop"}, {"k8s_name", "net-" + n}};
    o["policy"] = json::parse(
        R"({"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":{"description":")" +
        std::to_string(changes_) + R"(","endpointSelector":{"matchLabels":{"a":"b"}}}})");
    return json::serialize(o);
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
  return json::serialize(o);
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
  json::object s = json::parse(spec(kind, number)).as_object();
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

// --- what must hold
// ---------------------------------------------------------------------------------------------------

void World::before(const cluster::Request& q, const std::string& text) {
  if (q.verb != DAVIT_VERB_DELETE || kind_of(q.resource) == nullptr) return;
  const json::value object = json::parse(text);
  if (object.is_null()) return;
  const Stamp stamp = stamp_of(object);
  story_.tell("delete of " + display(stamp.name) + " @" + std::to_string(stamp.version));
  if (!stamp) return story_.fault("a stranger's object is deleted: " + q.ns + "/" + q.name);
  if (!history_.died_after(stamp.name, stamp.id, stamp.version)) {
    story_.fault(display(stamp.name) + " @" + std::to_string(stamp.version) +
                 " is deleted, and was never dead since");
  }
}

void World::after(const cluster::Request& q, const cluster::Response& r) {
  if (q.verb != DAVIT_VERB_APPLY || kind_of(q.resource) == nullptr || r.code != Code::ok) return;
  const Stamp stamp = stamp_of(json::parse(q.body));
  if (!stamp) return;
  story_.tell("apply of " + display(stamp.name) + " @" + std::to_string(stamp.version));
  uint64_t& applied = applied_[stamp.name];
  applied = std::max(applied, stamp.version);
}

// A cursor says that everything up to it was applied, or is held.
void World::check_cursor(const Progress& p) {
  for (const auto& kind : p.kinds) {
    for (const auto& [name, written] : history_.all()) {
      if (name.kind != kind.kind) continue;
      const Written& last = History::now(written);
      if (!last.live || last.held || last.version > kind.applied.version) continue;
      if (applied_[name] < last.version) {
        story_.fault("the cursor of " + name.kind + " is at " +
                     std::to_string(kind.applied.version) + ", and " + display(name) + " @" +
                     std::to_string(last.version) + " was never applied");
      }
    }
  }
}

std::string World::difference() {
  for (const auto& kind : kinds()) {
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = kind.resource;
    const json::value all = json::parse(call(q).body);
    std::map<Name, json::value> objects;
    for (const auto& item : all.at("items").as_array()) {
      if (const Stamp stamp = stamp_of(item); stamp && stamp.name.kind == kind.kind)
        objects[stamp.name] = item;
    }
    for (const auto& [name, written] : history_.all()) {
      if (name.kind != kind.kind) continue;
      const auto found = objects.find(name);
      const auto left = difference(name, History::now(written),
                                   found == objects.end() ? json::value() : found->second);
      if (!left.empty()) return display(name) + " " + left;
    }
  }
  if (object({"apps", "v1", "replicasets"}, "others", "stranger").at("spec") != stranger_)
    return "a stranger's object was changed";
  return {};
}

std::string World::difference(const Name& name, const Written& wanted, const json::value& object) {
  if (wanted.held) return {};
  if (!wanted.live) return object.is_null() ? "" : "is dead and still there";
  if (object.is_null()) return "is missing";
  const Stamp stamp = stamp_of(object);
  if (stamp.version != wanted.version) {
    return "is at " + std::to_string(stamp.version) + " and not at " +
           std::to_string(wanted.version);
  }
  const json::value spec = json::parse(wanted.spec);
  if (name.kind == "cilium_network_policy") {
    return text_at(object, "/spec/description") == text_at(spec, "/policy/spec/description")
               ? ""
               : "was meddled with";
  }
  if (text_at(object, "/spec/template/spec/containers/0/image") != text_at(spec, "/image"))
    return "has another image";
  if (object.at("spec").at("replicas").to_number<int>() != spec.at("replicas").to_number<int>())
    return "has other replicas";
  return {};
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
