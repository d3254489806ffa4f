// The agents' processes: how they start and end, and what each has of its own of the host's
// services.
#include "later.hpp"
#include "world.hpp"

namespace davit::simulation {

using std::chrono::milliseconds;

void World::start_agent(Agent& agent) {
  story_.tell("agent " + agent.name + " starts");
  agent.process = ++processes_;
  agent.started_before = std::exchange(agent.started_at, now());
  agent.heard.clear();
  agent.issues.clear();
  agent.pruned.clear();
  agent.long_dead = heads_.empty() ? Version() : heads_.begin()->second;
  agent.tombstones.clear();
  for (const auto& [name, written] : history_.all()) {
    if (has_tombstone(name, written)) agent.tombstones.insert(name);
  }
  agent.over = false;
  hurry_ = 12;  // much is to happen during its snapshots
  link_.agent_back(agent.name);
  agent.cluster.asker_back();
  const std::string of = "-" + agent.name, cluster = "cluster" + of;
  if (scene_ == Scene::pair) {
    load(agent.side, "leader", "leader" + of,
         {{"cluster", cluster},
          {"server", agent.name},
          {"identity", agent.name},
          {"lease_duration_ms", 6000},
          {"renew_deadline_ms", 4000},
          {"retry_ms", 1000}});
  }
  load(agent.side, "reporter", "reporter" + of,
       {{"server", agent.name}, {"breaker_failures_max", 3}, {"breaker_open_ms", 2000}});
  load(agent.side, "applier", "applier" + of,
       {{"cluster", cluster},
        {"status", "reporter" + of},
        {"parked_retry_ms", 60'000},
        {"blind_after_ms", blind_after / milliseconds(1)},
        {"prune_always_allowed", int64_t{prune_always_allowed}},
        {"prune_share_max_percent", int64_t{prune_share_max_percent}}});
  load(agent.side, "watcher", "watcher" + of,
       {{"server", agent.name}, {"sink", "applier" + of}, {"status", "reporter" + of}});
}

// As far as anybody else can see it is dead.
void World::cut_off(Agent& agent) {
  agent.over = true;
  link_.agent_gone(agent.name);
  agent.cluster.asker_gone();
}

void World::crash_agent(Agent& agent) {
  if (!agent.side.up) return;
  story_.tell("agent " + agent.name + " crashes");
  cut_off(agent);
  host_.run();
  agent.side.stop(host_);
  agent.over = false;
}

// Another of the region, without a Lease: it comes for a while.
void World::second_comes_or_goes() {
  Agent& second = *agents_[1];
  if (!second.side.up) {
    second.up_at = now();
  } else {
    crash_agent(second);
    second.up_at = now() + milliseconds(fate_.below(30'000));
  }
}

// It goes on by what it has heard, and falls behind the others.
void World::cut_off_one() {
  Agent& agent = some_agent();
  story_.tell("the link of agent " + agent.name + " is cut");
  link_.set_cut(agent.name, true);
  plan(milliseconds(3'000 + fate_.below(25'000)),
       [this, &agent] { link_.set_cut(agent.name, false); });
}

// It falls behind the others. What it hears was said seconds ago, perhaps by a server that has
// crashed since.
void World::crawl() {
  Agent& agent = rivals() ? *agents_[fate_.below(2)] : some_agent();  // one of two in a region
  story_.tell("the link of agent " + agent.name + " crawls");
  link_.set_crawling(agent.name, true);
  plan(milliseconds(15'000 + fate_.below(30'000)),
       [this, &agent] { link_.set_crawling(agent.name, false); });
  if (!fate_.chance(0.7)) return;
  plan(milliseconds(2'000 + fate_.below(6'000)), [this] {
    people_only_until_ = now() + std::chrono::seconds(15);
    restart_server(std::chrono::seconds(1));
  });
}

size_t World::working(const std::string& where) const {
  return static_cast<size_t>(std::count_if(agents_.begin(), agents_.end(), [&](const auto& agent) {
    return agent->side.up && agent->region == where;
  }));
}

// The host ends the process. What it has until the deadline it may use.
void World::lease_lost(Agent& agent, const std::string& reason, Time deadline) {
  story_.tell("agent " + agent.name + ": " + reason);
  agent.over = true;
  later(strand_, std::max(deadline - now(), Time(0)), [this, &agent, process = agent.process] {
    if (agent.over && agent.process == process) cut_off(agent);
  });
}

void World::jump_clock(Agent& agent) {
  agent.clock_ahead = milliseconds(fate_.below(7'200'000)) - milliseconds(3'600'000);
  story_.tell("the clock of agent " + agent.name + " jumps to " +
              std::to_string(agent.clock_ahead / milliseconds(1)) + " ms ahead");
}

World::Agent* World::agent_of(std::string_view instance) {
  for (auto& agent : agents_) {
    if (instance.ends_with("-" + agent->name)) return agent.get();
  }
  return nullptr;
}

void World::own_services() {
  // All are in one process here; an agent sees nothing of another one's.
  lookup_ = host_.host().service<davit_lookup>(DAVIT_LOOKUP);
  static davit_lookup lookup;
  lookup = *lookup_;
  lookup.each = [](const davit_host* h, davit_str id, void* ctx,
                   void (*visit)(void*, const davit_ref*)) {
    struct Asker {
      Agent* agent;
      void* ctx;
      void (*visit)(void*, const davit_ref*);
    } asker{current_->agent_of(view(h->instance)), ctx, visit};
    current_->lookup_->each(h, id, &asker, [](void* c, const davit_ref* found) {
      const auto& who = *static_cast<Asker*>(c);
      const Agent* owner = current_->agent_of(view(found->instance));
      if (owner == nullptr || owner == who.agent) who.visit(who.ctx, found);
    });
  };
  host_.add_service(DAVIT_LOOKUP, &lookup);

  clock_ = host_.host().service<davit_clock>(DAVIT_CLOCK);
  static davit_clock clock;
  clock = *clock_;
  clock.unix_ns = [](const davit_host* h) {
    const Agent* agent = current_->agent_of(view(h->instance));
    return current_->clock_->unix_ns(h) + (agent == nullptr ? 0 : agent->clock_ahead.count());
  };
  host_.add_service(DAVIT_CLOCK, &clock);
  static const davit_shutdown shutdown = {
      sizeof shutdown, [](const davit_host* h, davit_str reason, int64_t deadline_ns) {
        if (Agent* agent = current_->agent_of(view(h->instance)))
          current_->lease_lost(*agent, text(reason), Time(deadline_ns));
      }};
  host_.add_service(DAVIT_SHUTDOWN, &shutdown);
}

}  // namespace davit::simulation
