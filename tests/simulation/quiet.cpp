// What must hold while nothing goes wrong: a change is in the cluster within seconds, not with the
// next resync, and a rollout leaves all pods but one serving.
#include "world.hpp"

namespace davit::simulation {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// From the request to the cluster. What takes longer has waited for a resync, or for a retry.
constexpr seconds timely{5};
// The same of an object that people keep changing, and of one of many that they put back: what is
// to be done about it waits for up to a minute.
constexpr seconds timely_with_resync{65};
// The same of an object that was made in a history that the store has lost, while its record was
// held. Only now does the agent look at it, and it waits for the next bookmark of an idle stream,
// in case another server has begun that history.
constexpr seconds explained{50};
// Of ctrl.v1, which has no word for it: so many changes are a fight.
constexpr uint64_t changes_of_a_fight = 5;
// Pods take half a second each, and are replaced one by one.
constexpr seconds rolled_out{30};
constexpr milliseconds step{50};
// Kubernetes says in whole seconds when a pod became ready.
constexpr milliseconds ready_for_too_little{1'200};
constexpr int changes = 6;

// `pod` is a "namespace/name".
bool is_pod_of(const Name& name, const std::string& pod) {
  return pod.starts_with(name.ns + "/" + name.name + "-");
}

}  // namespace

std::string World::pod_image(const json::value& pod) {
  return text_at(pod, "/spec/containers/0/image");
}

bool World::is_ready(const json::value& pod) {
  boost::system::error_code none;
  const json::value* conditions = pod.find_pointer("/status/conditions", none);
  if (conditions == nullptr || !text_at(pod, "/metadata/deletionTimestamp").empty()) return false;
  return std::any_of(conditions->as_array().begin(), conditions->as_array().end(),
                     [](const auto& c) {
                       return text_at(c, "/type") == "Ready" && text_at(c, "/status") == "True";
                     });
}

int64_t World::ready_pods(const Name& name, Time at_least) const {
  int64_t count = 0;
  for (const auto& [pod, ready] : ready_) {
    if (is_pod_of(name, pod) && ready.since + at_least <= now()) ++count;
  }
  return count;
}

std::string World::object_difference(const Name& name) {
  const auto written = history_.all().find(name);
  if (written == history_.all().end()) return {};
  json::value found = object(kind_of(name.kind)->resource, name.ns, name.name);
  if (stands_for_other(name, found)) return {};
  if (text_at(found, "/metadata/name").empty()) found = nullptr;
  return difference(name, History::now(written->second), found);
}

// How many pods the record wants at this version; 0: it is not live, or not ours to touch.
int64_t World::pods_of(const Name& name, const Written& w) {
  const bool touched = name.kind == "deployment" && w.live && !w.held;
  return touched ? json::parse(w.spec).at("replicas").to_number<int64_t>() : 0;
}

int64_t World::wanted_pods(const Name& name) const {
  const auto written = history_.all().find(name);
  return written == history_.all().end() ? 0 : pods_of(name, History::now(written->second));
}

bool World::quiet() {
  // Nobody puts back now what is not removed at once: what the store has lost is orphaned, and over
  // ctrl.v1 an agent removes what appears of a deleted record with its next listing.
  if (scene_ == Scene::restored || scene_ == Scene::ctrl) kept_.clear();
  for (const auto until = now() + min_ready; now() < until;) pass(step);
  for (int i = 0; i < changes && story_.broken().empty(); ++i) {
    const Kind& kind = kinds()[fate_.below(kinds().size())];
    const uint64_t number = fate_.below(names_of_a_kind);
    const Name name = name_of(kind.kind, number);
    if (fate_.chance(0.3)) {
      meddle();
      for (const auto& [other, written] : history_.all()) {
        if (!(contested_ && other.name == contested_name().name))
          expect_in_time(
              other, {},
              is_contested(other) || waits_for_resync(other.kind) ? timely_with_resync : timely);
      }
      continue;
    }
    if (wanted_by_both(name)) continue;
    const Place before{history_.head(), wanted_pods(name)};
    const Cursor made_of = stamp_of(object(kind.resource, name.ns, name.name)).made_of;
    const Time within = history_.has(made_of) ? timely : explained;
    apply(kind.kind, number);
    // A change that comes while the one before it is carried out is carried out, too.
    if (fate_.chance(0.5)) {
      host_.advance(std::chrono::microseconds(fate_.below(5'000)));
      apply(kind.kind, number);
    }
    expect_in_time(name, before, within);
  }
  return story_.broken().empty();
}

// What another agent has made of records in an incarnation that this one has missed is no obstacle
// to it.
void World::come_back() {
  if (!rivals()) return;
  constexpr seconds connected{10};
  Agent &away = *agents_[0], &second = *agents_[1];
  const auto start_anew = [&] {
    crash_server();
    start_server();
    for (const auto until = now() + connected; now() < until;) pass(seconds(1));
  };
  const auto change = [this](uint64_t number) {
    for (const Kind& kind : kinds()) {
      const Name name = name_of(kind.kind, number);
      if (wanted_by_both(name)) continue;
      const Place before{history_.head(), wanted_pods(name)};
      apply(kind.kind, number);
      expect_in_time(name, before, timely);
    }
  };
  story_.tell("agent " + away.name + " is away");
  const uint64_t number = fate_.below(names_of_a_kind);
  link_.set_cut(away.name, true);
  second.up_at = now();
  start_anew();
  change(number);
  crash_agent(second);
  second.up_at = Time::max();
  link_.set_cut(away.name, false);
  start_anew();
  story_.tell("agent " + away.name + " is back");
  change(number);
}

// An agent tells by its clock how long a pod has been ready.
bool World::any_clock_jumped() const {
  return std::any_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent->clock_ahead.count() != 0; });
}

// Whether people are told that somebody keeps changing it: only then may a repair be late.
bool World::is_contested(const Name& name) const {
  if (scene_ == Scene::ctrl) {
    const auto changed = changed_by_people_.find(name);
    return changed != changed_by_people_.end() && changed->second >= changes_of_a_fight;
  }
  return std::any_of(agents_.begin(), agents_.end(), [&](const auto& agent) {
    return agent->region == name.region && agent->side.up &&
           std::any_of(agent->issues.begin(), agent->issues.end(), [&](const Issue& issue) {
             return issue.kind == name.kind && issue.ns == name.ns && issue.name == name.name &&
                    issue.condition == "contested";
           });
  });
}

// What has been put back is removed at once, for as many records as an agent prunes without more
// ado. Further ones are judged with the next resync.
bool World::waits_for_resync(const std::string& kind) const {
  const auto put_back = put_back_.find(kind);
  if (put_back == put_back_.end()) return false;
  return static_cast<uint64_t>(std::count_if(
             put_back->second.begin(), put_back->second.end(),
             [this](Time at) { return now() - at < timely_with_resync; })) > prune_always_allowed;
}

// Whether another region wants the name, too.
bool World::wanted_by_both(const Name& name) const {
  const auto theirs = history_.all().find(of_other_region(name));
  return theirs != history_.all().end() && History::now(theirs->second).live;
}

bool World::lose_statuses() {
  if (scene_ != Scene::restored) return true;
  constexpr seconds told_in_time{30}, limit{120};
  back_up();
  if (!settle(limit)) return false;
  for (const auto& [name, written] : history_.all()) {
    if (wanted_pods(name) > 0) restart_pod(name);
  }
  pass(told_in_time);
  restore_from(backup_);
  return settle(limit);
}

bool World::rest() {
  constexpr seconds quiet_down{75}, while_nothing_changes{75}, a_word_each{5};
  pass(quiet_down);
  writes_ = words_ = 0;
  for (const auto until = now() + while_nothing_changes; now() < until;) pass(seconds(5));
  // Over ctrl.v1 an agent finds by asking, minutes later, what is gone.
  if (writes_ > 0 && scene_ != Scene::ctrl)
    story_.fault(std::to_string(writes_) + " writes to the cluster while nothing changes, " +
                 last_write_ + " the last");
  if (words_ > agents_.size() * (while_nothing_changes / a_word_each))
    story_.fault("agents speak " + std::to_string(words_) + " times while nothing changes");
  return story_.broken().empty();
}

// How many pods have to serve while the record goes from there to what it is now: all but one of
// the least that it wanted on the way.
int64_t World::serving_since(const Name& name, const Place& before) const {
  const auto written = history_.all().find(name);
  if (written == history_.all().end()) return 0;
  int64_t least = before.pods;
  for (const Written& w : written->second) {
    if (w.version > before.head) least = std::min(least, pods_of(name, w));
  }
  return least - 1;
}

void World::expect_in_time(const Name& name, const Place& before, Time within) {
  std::string left;
  const auto begin = now();
  pass(step);  // the request has been answered
  const int64_t serving = serving_since(name, before);
  do {
    pass(step);
    check_serving(name, serving);
    left = object_difference(name);
  } while (!left.empty() && now() < begin + within && story_.broken().empty());
  if (!left.empty())
    return story_.fault(display(name) + " " + left + ", " + std::to_string(within / seconds(1)) +
                        " s after the change");
  await_pods(name, serving);
}

void World::check_serving(const Name& name, int64_t least) {
  // Two that work without a Lease may each replace one.
  if (rivals() && working(name.region) > 1) return;
  const Time served = any_clock_jumped() ? Time(0) : Time(min_ready - ready_for_too_little);
  if (const int64_t ready = ready_pods(name, served); ready < least)
    story_.fault(display(name) + " has " + std::to_string(ready) +
                 " pods that serve during a rollout, of " + std::to_string(least) + " at least");
}

// Also of what has just been made: the next change is judged by what serves before it.
void World::await_pods(const Name& name, int64_t serving) {
  const int64_t wanted = wanted_pods(name);
  if (wanted == 0 ||
      stands_for_other(name, object(kind_of(name.kind)->resource, name.ns, name.name)))
    return;
  const auto until = now() + rolled_out;
  int64_t ready = -1;
  while (ready != wanted && now() < until && story_.broken().empty()) {
    pass(step);
    check_serving(name, serving);
    ready = ready_pods(name, min_ready);
  }
  if (ready != wanted && !rivals())
    story_.fault(display(name) + " has " + std::to_string(ready) + " pods that serve, and not " +
                 std::to_string(wanted) + ", " + std::to_string(rolled_out.count()) +
                 " s after the change");
}

// A status that says that nothing is ready is a lie if a pod of the wanted template has been ready
// since before the agent that says it began to look.
void World::watch_pods() {
  cluster::WatchRequest q;
  q.resource = {"", "v1", "pods"};
  pods_watch_ = *cluster_.watch(
      q, UINT32_MAX,
      {[this](int32_t type, std::string_view object) { see_pod(type, object); }, [] {}});
}

void World::see_pod(int32_t type, std::string_view object) {
  if (type > DAVIT_WATCH_DELETED) return;
  const json::value pod = json::parse(object);
  const std::string key =
      text_at(pod, "/metadata/namespace") + "/" + text_at(pod, "/metadata/name");
  if (type == DAVIT_WATCH_DELETED || !is_ready(pod)) {
    ready_.erase(key);
  } else {
    ready_.try_emplace(key, ReadyPod{now(), pod_image(pod)});
  }
}

void World::check_what_was_said_of_pods() {
  Time looked_since = now();
  for (const auto& agent : agents_) looked_since = std::min(looked_since, agent->started_before);
  for (const auto& [key, what] : std::exchange(said_none_ready_, {})) {
    for (const auto& [name, written] : history_.all()) {
      const Written& last = History::now(written);
      if (name.kind != key.kind || last.id != key.id || !last.live || last.held) continue;
      if (name.region != key.region || history_.all().contains(of_other_region(name))) continue;
      const std::string image = text_at(json::parse(last.spec), "/image");
      for (const auto& [pod, ready] : ready_) {
        if (is_pod_of(name, pod) && ready.since < looked_since && ready.image == image)
          story_.fault("the status of " + display(name) + " says that nothing is ready (" + what +
                       "), and " + pod + " has been since before its agent began");
      }
    }
  }
}

}  // namespace davit::simulation
