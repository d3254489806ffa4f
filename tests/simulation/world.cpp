#include "world.hpp"

namespace davit::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Config;
using testing::TestHost;

}  // namespace

World* World::current_ = nullptr;

World::World(uint64_t seed, std::optional<Scene> scene, Plugins plugins)
    : plugins_(std::move(plugins)),
      host_("world", {}, TestHost::Time::manual),
      fate_(seed),
      scene_(scene ? *scene : static_cast<Scene>(fate_.below(scenes_of_seeds))),
      story_([this] { return host_.now(); }),
      link_(host_, fate_, scene_ == Scene::ctrl ? "ctrl.v1" : "davit.v1"),
      commits_(host_, fate_, "main"),
      storage_(fate_, history_, *this) {
  current_ = this;
  host_.seed(seed);
  story_.tell(std::string("scene: ") + scenes[static_cast<size_t>(scene_)]);
  own_services();
  host_.add_service(DAVIT_CODEC, codec_.table());
  host_.add_service(DAVIT_RPC, link_.table());
  host_.add_service(DAVIT_COMMIT, CommitQueue::table());
  host_.add_role("main", DAVIT_STORAGE, reinterpret_cast<davit_instance*>(&storage_),
                 storage::Role::vtable<ShakyStorage>());
  load(kinds_, "kind_deployment", "deployment", {{"min_ready_s", min_ready / seconds(1)}});
  load(kinds_, "kind_sentinel", "sentinel", {});
  load(kinds_, "kind_cilium_network_policy", "cilium_network_policy", {});
  start_cluster();
  start_server();
  for (const char* name : {"a", "b", "c"}) {
    const bool takes_part = name[0] == 'a' || rivals() || (name[0] == 'b' && scene_ == Scene::pair);
    if (!takes_part) continue;
    Judge& judge = *this;
    agents_.push_back(
        std::unique_ptr<Agent>(new Agent{name, ShakyCluster(host_, fate_, cluster_, judge, name)}));
    Agent& agent = *agents_.back();
    host_.add_role("cluster-" + agent.name, DAVIT_CLUSTER,
                   reinterpret_cast<davit_instance*>(&agent.cluster),
                   cluster::Role::vtable<ShakyCluster>());
    if (name[0] == 'c') agent.region = other_region;
    start_agent(agent);
  }
}

World::~World() {
  fate_.make_peace();
  for (auto& agent : agents_) crash_agent(*agent);
  crash_server();
  pods_watch_.cancel();
  host_.run();
  cluster_side_.stop(host_);
  current_ = nullptr;
}

void World::load(Side& side, const std::string& file, const std::string& name, Config config) {
  side.load(host_, plugins_, file, name, config);
}

void World::start_cluster() {
  load(cluster_side_, "cluster_memory", "kubernetes", {{"pod_ready_ms", 500}});
  cluster_ = cluster::Client(cluster_side_.instances.back()->ref(DAVIT_CLUSTER));
  watch_pods();
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = {"", "v1", "namespaces"};
  for (const char* ns : {"others", "shop"}) {
    q.body =
        std::string(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")") + ns + "\"}}";
    call(q);
  }
  q.resource = {"apps", "v1", "replicasets"};
  q.ns = "others";
  q.body = R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"stranger",
      "labels":{"app.kubernetes.io/managed-by":"krane"}},"spec":{"replicas":1,
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  call(q);
  stranger_ = object(q.resource, "others", "stranger").at("spec");
  contest_name();
}

void World::start_server() {
  if (server_.up) return;
  story_.tell("the server starts");
  open_store();
  load(server_, "streamer", "streamer", {{"storage", "main"}});
  load(server_, "recorder", "recorder", {{"storage", "main"}});
  load(server_, "desired", "desired",
       {{"storage", "main"},
        {"purge_interval_ms", 0},
        {"purge_retention_ms", 0},
        {"agent_live_ms", agent_live / milliseconds(1)}});
}

// Each open of the store begins an incarnation.
void World::open_store() {
  load(store_, "storage_sqlite", "store",
       {{"path", folder_.path() + "/davit.db"}, {"measure_interval_ms", 0}});
  storage_.stand_before(storage::Client(host_, store_.instances.back()->ref(DAVIT_STORAGE)));
  if (auto chain = storage_.inner().history(); chain.ok()) history_.opened(std::move(*chain));
}

// As when a database is started anew under its server: calls fail for a moment.
void World::reopen_store() {
  if (!server_.up) return;
  story_.tell("the store is opened anew under its server");
  storage_.close();
  store_.stop(host_);
  open_store();
}

void World::crash_server() {
  if (!server_.up) return;
  story_.tell("the server crashes");
  link_.server_gone();
  host_.run();
  server_.stop(host_);
  store_.stop(host_);
}

// One that crashes may do so again, soon after it has started.
void World::restart_server(Time within) {
  crash_server();
  const Time back = milliseconds(fate_.below(static_cast<uint64_t>(within / milliseconds(1))));
  plan(back, [this] { start_server(); });
  if (fate_.chance(0.3))
    plan(back + milliseconds(2'000 + fate_.below(6'000)), [this] { restart_server(seconds(3)); });
}

void World::live() {
  const bool quick = hurry_ > 0 && hurry_-- > 0;
  const bool people_only = no_more_troubles_ || now() < people_only_until_;
  const auto what = fate_.below(quick ? 330 : people_only ? 480 : 1000);
  if (what < 230) {
    apply_something();
  } else if (what < 250) {
    repeat_something();
  } else if (what < 330) {
    delete_something();
  } else if (what < 480) {
    meddle();
  } else if (what < 490) {
    purge();
  } else if (what < 500) {
    story_.tell("the watches break");
    for (auto& agent : agents_) agent->cluster.break_watches();
  } else if (what < 506 && fate_.strikes(1)) {
    restart_server(seconds(20));
  } else if (what < 509 && fate_.strikes(1)) {
    some_agent().over = true;
  } else if (what < 513 && fate_.strikes(1)) {
    lose_cluster(milliseconds(1'000 + fate_.below(30'000)));
  } else if (what < 517 && fate_.strikes(1)) {
    cut_link(fate_.chance(0.5));
  } else if (what < 519 && (scene_ == Scene::plain || scene_ == Scene::pair)) {
    clear_out();
  } else if (what < 523 && (scene_ == Scene::plain || scene_ == Scene::pair)) {
    jump_clock(some_agent());
  } else if (what < 527 && scene_ == Scene::restored) {
    back_up();
  } else if (what < 535 && scene_ == Scene::restored && fate_.strikes(1)) {
    restore();
  } else if (what < 535 && scene_ == Scene::reopened && fate_.strikes(1)) {
    reopen_store();
  } else if (what < 560 && rivals() && fate_.strikes(1)) {
    what < 545 ? second_comes_or_goes() : cut_off_one();
  } else if (what >= 560 && what < 563 && fate_.strikes(1)) {
    hide_something();
  } else if (what >= 563 && what < (rivals() ? 575 : 566) && fate_.strikes(1)) {
    crawl();
  }
  quick ? pass(std::chrono::microseconds(500 + fate_.below(2'500)))
        : pass(milliseconds(1 + fate_.below(200)));
  while (!agenda_.empty() && agenda_.begin()->first <= now()) {
    const auto next = agenda_.extract(agenda_.begin());
    next.mapped()();
  }
  if (!history_.twice().empty())
    story_.fault("request " + history_.twice() + " was carried out twice");
  if (!history_.unexpected().empty()) story_.fault(history_.unexpected());
}

void World::may_be_last_trouble() {
  if (fate_.chance(0.4)) return;
  no_more_troubles_ = true;
  const bool counts = scene_ == Scene::plain || scene_ == Scene::pair;  // what a snapshot names
  switch (fate_.below(4)) {
    case 0:
      return cut_link(true);
    case 1:
      return lose_cluster(milliseconds(1'000 + fate_.below(10'000)));
    default:
      if (counts) return clear_out();
      if (scene_ == Scene::restored) return restore();
      some_agent().over = true;
  }
}

void World::plan(Time in, std::function<void()> what) {
  agenda_.emplace(now() + in, std::move(what));
}

// What an agent has heard and could not carry out yet, a store restored meanwhile may have lost.
void World::lose_cluster(Time lasts) {
  story_.tell("the API server goes away");
  for (auto& agent : agents_) agent->cluster.set_away(true);
  // One that starts meanwhile has nothing to say of what it has never seen.
  if (fate_.chance(0.3)) some_agent().over = true;
  plan(lasts, [this] {
    for (auto& agent : agents_) agent->cluster.set_away(false);
  });
  if (scene_ != Scene::restored || !fate_.chance(0.7)) return;
  people_only_until_ = now() + lasts + seconds(1);
  plan(lasts / 3, [this] { back_up(); });
  plan(lasts * 2 / 3, [this] { restore(); });
}

// Who is cut off for long is forgotten: what died meanwhile is purged, and a server that starts
// anew has it in no ring.
void World::cut_link(bool for_long) {
  story_.tell("the link is cut");
  link_.set_cut(true);
  const Time lasts = for_long ? milliseconds(fate_.below(5'000)) + agent_live + seconds(2)
                              : milliseconds(fate_.below(15'000));
  plan(lasts, [this] { link_.set_cut(false); });
  if (!for_long) return;
  people_only_until_ = now() + lasts + seconds(1);
  plan(lasts / 2, [this] { delete_of_a_kind(); });
  plan(lasts - milliseconds(1'500), [this] { purge(); });
  plan(lasts - milliseconds(500), [this] {
    crash_server();
    start_server();
  });
}

// Time passes; who has ended is taken down, and starts again in its time.
void World::pass(Time by) {
  heads_[now()] = history_.head();
  while (heads_.size() > 1 && std::next(heads_.begin())->first <= now() - snapshots_share_begin)
    heads_.erase(heads_.begin());
  host_.advance(by);
  check_what_was_said_of_pods();
  for (auto& agent : agents_) {
    if (agent->over && agent->side.up) {
      crash_agent(*agent);
      agent->up_at = now() + milliseconds(fate_.below(20'000));
    }
    if (!agent->side.up && now() >= agent->up_at) start_agent(*agent);
  }
}

bool World::settle(seconds limit) {
  fate_.make_peace();
  story_.tell("peace");
  link_.set_cut(false);
  agenda_.clear();
  start_server();
  for (auto& agent : agents_) {
    agent->cluster.set_away(false);
    agent->cluster.show_all();
    agent->up_at = now();
    link_.set_cut(agent->name, false);
    link_.set_crawling(agent->name, false);
  }
  if (rivals() && fate_.chance(0.5)) {  // the second one has gone for good
    fall_behind(*agents_[1]);
    crash_agent(*agents_[1]);
    agents_[1]->cluster.show_all();
    agents_[1]->up_at = Time::max();
    pass(seconds(1));
  }
  if (fate_.chance(0.5)) leave_contested_name();
  std::string left;
  for (const auto until = now() + limit; now() < until; pass(seconds(5))) {
    left = difference();
    if (left.empty() || !story_.broken().empty()) return left.empty();
    if (until - now() < limit - seconds(30)) remove_orphans();  // what had to be told has been
  }
  story_.fault("not as desired after " + std::to_string(limit.count()) + " s: " + left);
  return false;
}

}  // namespace davit::simulation
