// What must hold while an agent does not see a resource: it says so, and why, and no longer than it
// lasts.
#include "world.hpp"

namespace davit::simulation {

namespace {

using std::chrono::seconds;

constexpr seconds said_within{5};
// Two agents that rise above each other in turn may each wait half a minute before they speak.
constexpr seconds said_by_rivals_within{35};

std::string why_hidden(bool refused) {
  return refused ? "the watch is forbidden" : "the connection is lost";
}

}  // namespace

void World::hide(Agent& agent, const std::string& resource, bool refused) {
  story_.tell("agent " + agent.name + " sees no " + resource + ": " + why_hidden(refused));
  agent.cluster.hide(resource, refused ? DAVIT_WATCH_REFUSED : DAVIT_WATCH_TROUBLE,
                     why_hidden(refused));
}

void World::hide_something() {
  Agent& agent = some_agent();
  const auto watched = agent.cluster.watched();
  if (watched.empty()) return;
  const auto resource =
      *std::next(watched.begin(), static_cast<std::ptrdiff_t>(fate_.below(watched.size())));
  hide(agent, resource, fate_.chance(0.5));
  plan(std::chrono::milliseconds(1'000 + fate_.below(30'000)),
       [&agent, resource] { agent.cluster.show(resource); });
}

// The agent does not know yet that it sees no pods, and says of new ones that there are none:
// perhaps after the other agent of the region has said that they are ready.
void World::fall_behind(Agent& agent) {
  constexpr seconds at_work{20}, rolled_out{5};
  constexpr std::chrono::milliseconds between_changes{200};
  static_assert(rolled_out + names_of_a_kind * between_changes < blind_after);
  pass(at_work);
  hide(agent, "pods", false);
  for (uint64_t number = 0; number < names_of_a_kind; ++number) {
    apply("deployment", number);
    pass(between_changes);
  }
  pass(rolled_out);
}

// Of how many kinds the server has it that the agent does not see this resource, for this reason.
size_t World::said_to_be_blind(const Agent& agent, const std::string& resource,
                               const std::string& why) {
  size_t kinds = 0;
  const auto read = storage_.inner().agents({}, [&](const davit_progress& stored) {
    const Progress said = from_abi(stored);
    if (said.region != agent.region || said.agent != agent.name) return true;
    for (const Issue& issue : said.issues) {
      // "replicasets.apps"
      const bool named = issue.name.substr(0, issue.name.find('.')) == resource;
      if (issue.condition == DAVIT_ISSUE_BLIND && named && issue.reason.ends_with(why)) ++kinds;
    }
    return true;
  });
  if (!read.ok()) story_.fault("the store cannot be read: " + read.error().message);
  return kinds;
}

// An empty reason: whatever it is.
bool World::await_blindness(const Agent& agent, const std::string& resource, const std::string& why,
                            size_t kinds, Time within) {
  const auto until = now() + within;
  while (said_to_be_blind(agent, resource, why) != kinds && now() < until) pass(seconds(1));
  return said_to_be_blind(agent, resource, why) == kinds;
}

bool World::blind() {
  if (scene_ == Scene::ctrl) return true;  // that wire has no word for it
  for (const bool refused : {true, false}) {
    std::vector<Agent*> at_work;
    for (const auto& agent : agents_) {
      const bool works = scene_ != Scene::pair || agent->process == worker_;
      if (agent->side.up && works) at_work.push_back(agent.get());
    }
    if (at_work.empty()) return true;
    Agent& agent = *at_work[fate_.below(at_work.size())];
    const auto watched = agent.cluster.watched();
    if (watched.empty()) continue;
    const auto resource =
        *std::next(watched.begin(), static_cast<std::ptrdiff_t>(fate_.below(watched.size())));
    const Time soon = rivals() ? said_by_rivals_within : said_within;
    hide(agent, resource, refused);
    if (!await_blindness(agent, resource, why_hidden(refused), watched.count(resource),
                         refused ? soon : soon + blind_after))
      story_.fault("agent " + agent.name + " does not say that it sees no " + resource);
    agent.cluster.show(resource);
    if (!await_blindness(agent, resource, {}, 0, soon))
      story_.fault("agent " + agent.name + " says that it sees no " + resource +
                   ", and it is shown again");
  }
  return story_.broken().empty();
}

}  // namespace davit::simulation
