#include "syncer.hpp"

#include "objects.hpp"

namespace davit::federation {
namespace {

using namespace std::chrono_literals;

// A watch that goes on after an interruption shows what it has missed within this time, one event
// for each change. What has changed several times is written once.
constexpr auto backlog_within = 500ms;
constexpr size_t steps_max = 4;  // of one look: create or update, then the status, and a refusal

}  // namespace

Syncer::Syncer(const Surroundings& around, Rules rules, std::string ns)
    : around_(around),
      rules_(std::move(rules)),
      ns_(std::move(ns)),
      ends_{End(rules_.swapped ? around.downstream : around.upstream, without_managers,
                around.host.now()),
            End(
                rules_.swapped ? around.upstream : around.downstream,
                [this](json::object& object) {
                  without_managers(object);
                  condense(rules_, object);
                },
                around.host.now())},
      queue_(around.limits.queue),
      timer_(around.strand) {
  const Host& host = around_.host;
  for (const Side side : {upstream, downstream}) {
    const std::string word = side == upstream ? "upstream" : "downstream";
    const Pairs side_labels{{"resource", rules_.name}, {"namespace", ns_}, {"side", word}};
    ends_[side].up = host.gauge("davit_federation_watch_up",
                                "Whether all objects of this side are known", side_labels);
    ends_[side].objects =
        host.gauge("davit_federation_objects", "Objects that are known", side_labels);
    const Pairs reference{{"event_source", word}, {"resource", rules_.name}};
    syncs_[side] = host.counter("cr_syncer_cloudrobotics_com_syncs_total",
                                "Objects looked at, failures included", reference);
    errors_[side] = host.counter("cr_syncer_cloudrobotics_com_sync_errors_total",
                                 "Objects looked at that failed", reference);
  }
  stuck_gauge_ = host.gauge("davit_federation_stuck_objects",
                            "Objects that cannot be as they should be until something changes",
                            {{"resource", rules_.name}, {"namespace", ns_}});
  held_gauge_ = host.gauge("davit_federation_held_deletes",
                           "Deletes that wait for an operator, as upstream has lost too much",
                           {{"resource", rules_.name}, {"namespace", ns_}});
  for (const Standing standing : standings) {
    if (standing == Standing::in_step) continue;
    open_gauges_[standing] = host.gauge(
        "davit_federation_open_objects", "Objects that are not in step, by how they stand",
        {{"resource", rules_.name}, {"namespace", ns_}, {"standing", name_of(standing)}});
  }
  held_ = around_.holds->of(rules_.name, ns_);
  for (const Does does : {Does::create, Does::update, Does::remove, Does::status}) {
    requests_[does] = host.counter("davit_federation_requests_total", "Writes that were sent",
                                   {{"resource", rules_.name}, {"does", name_of(does)}});
  }
}

void Syncer::start() {
  for (const Side side : {upstream, downstream}) {
    cluster::WatchRequest request;
    request.resource = rules_.resource;
    request.ns = ns_;
    request.label_selector = rules_.selector;
    ends_[side].watch = std::make_shared<controller::Watched>(around_.strand, around_.outstanding);
    ends_[side].watch->open(
        ends_[side].client, request, around_.limits.watch_credit,
        [this, side](int32_t type, std::string_view object) { event(side, type, object); });
  }
}

void Syncer::close() {
  closed_ = true;
  timer_.cancel();
  for (End& end : ends_) {
    if (end.watch) end.watch->close();
    end.up.set(0);
    end.objects.set(0);
  }
  stuck_gauge_.set(0);
  held_gauge_.set(0);
  for (auto& [standing, gauge] : open_gauges_) gauge.set(0);
  operation_.cancel();
}

void Syncer::event(Side side, int32_t type, std::string_view object) {
  End& end = ends_[side];
  const auto changed = end.cache.event(type, object);
  const bool complete = end.cache.complete();
  const bool turned = std::exchange(end.was_complete, complete) != complete;
  if (turned && complete) {
    // What could not be decided can be now, and what failed may work again.
    queue_.hurry(now());
    if (std::exchange(end.known_before, true)) end.caught_up = now() + backlog_within;
  }
  for (const std::string& key : changed) has_changed(side, key);
  end.objects.set(static_cast<double>(end.cache.size()));
  if (turned) {
    end.since = now();
    end.up.set(complete ? 1 : 0);
    for (const End& each : ends_) {
      if (!complete) break;
      for (const std::string& key : each.cache.keys())
        queue_.add(key, std::max(now(), end.caught_up));
    }
  }
  // A list follows.
  const bool absent = ends_[upstream].cache.state() == controller::ObjectCache::State::absent;
  if (absent || (side == upstream && type == DAVIT_WATCH_RESTART)) unguarded_ = true;
  if (unguarded_ && ends_[upstream].was_complete && ends_[downstream].was_complete) guard();
  around_.told();
  pump();
}

void Syncer::has_changed(Side side, const std::string& key) {
  Memory& memory = memory_[key];
  memory.from_upstream = side == upstream;
  if (side == downstream) {
    memory.written.created.clear();
    memory.hidden.reset();
  }
  if (!memory.open) {
    note(memory, side == upstream ? Standing::ahead : Standing::behind, Does::nothing,
         "it has changed and waits for its turn");
  }
  queue_.add(key, std::max(now(), ends_[side].caught_up));
}

void Syncer::pump() {
  if (closed_ || pumping_) return;  // a look that needs no request ends inside of this loop
  pumping_ = true;
  while (auto key = queue_.take(now())) step({std::move(*key), {}, 0, false});
  pumping_ = false;
  const auto due = queue_.due();
  if (!due) return timer_.cancel();
  timer_.after(std::max(*due - now(), Time(0)), [this] { pump(); });
}

Action Syncer::judged(const std::string& key, Memory& memory) const {
  Action out = decided(key, memory);
  if (out.does != Does::remove || !out.gone || !held_.contains(key)) return out;
  out.does = Does::wait;
  out.standing = Standing::held;
  out.why = "its delete is held: upstream's list has lost many objects at once";
  return out;
}

Action Syncer::decided(const std::string& key, Memory& memory) const {
  const auto u = ends_[upstream].cache.find(key), d = ends_[downstream].cache.find(key);
  const json::value up = u ? parse_object(*u) : json::value(),
                    down = d ? parse_object(*d) : json::value();
  if (d || !u) memory.hidden.reset();
  Picture picture;
  picture.upstream = u ? &up.get_object() : nullptr;
  picture.hidden = memory.hidden != nullptr;
  picture.downstream = d ? &down.get_object() : memory.hidden.get();
  picture.upstream_complete = ends_[upstream].cache.complete();
  picture.downstream_complete = ends_[downstream].cache.complete();
  return decide(rules_, picture, memory.written);
}

void Syncer::step(Look look) {
  if (closed_) return;
  Memory& memory = memory_[look.key];
  if (look.steps == 0) {
    syncs_[memory.from_upstream ? upstream : downstream].add();
    if (memory.ask_again > Time(0) && now() >= memory.ask_again) {
      memory.ask_again = Time(0);
      memory.written.refused = memory.written.status_refused = 0;
      memory.hidden.reset();
    }
    if (now() >= memory.created_until) memory.written.created.clear();
  }
  memory.written.rests = now() < memory.repairs[downstream].until;
  memory.written.status_rests = now() < memory.repairs[upstream].until;
  look.action = judged(look.key, memory);
  note(memory, look.action);
  if (!held_.empty()) held_no_longer(look.key);
  switch (look.action.does) {
    case Does::nothing:
    case Does::wait:
      if (!look.stuck) say_no_longer_stuck(look.key, memory);
      return finish(look);
    case Does::stuck:
      say_stuck(look.key, memory, look.action.why);
      look.stuck = true;
      return finish(look);
    default:
      break;
  }
  if (around_.rehearses) return rehearse(std::move(look));
  if (look.steps++ >= steps_max) {  // it rests
    note(memory, Standing::conflicting, look.action.does, "somebody undoes what is written");
    return fail(look);
  }
  const auto denied = denied_.find(look.action.does);
  if (denied != denied_.end() && denied->second.second > now()) {
    const auto rest = denied->second.second - now();
    note(memory, look.action.standing, look.action.does, failing_[look.action.does]);
    return fail(look, std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  // The one that asks keeps the others waiting until it has its answer.
  if (denied != denied_.end()) denied->second.second = now() + around_.limits.request_timeout;
  send(std::move(look));
}

void Syncer::fail(const Look& look, std::chrono::milliseconds retry_after) {
  errors_[memory_[look.key].from_upstream ? upstream : downstream].add();
  queue_.failed(look.key, now(), around_.host.random(), retry_after);
  pump();
}

void Syncer::finish(const Look& look) {
  queue_.succeeded(look.key);
  Memory& memory = memory_[look.key];
  if (look.stuck) errors_[memory.from_upstream ? upstream : downstream].add();
  // Each time again, because the queue knows of one time for each key: the earliest.
  if (!memory.written.created.empty()) queue_.add_at(look.key, memory.created_until);
  if (look.stuck || memory.hidden) {
    // An event is looked at at once, because it may be the cure. What was refused is not sent again
    // before this time. Of a hidden object no event may come.
    if (memory.ask_again == Time(0)) memory.ask_again = now() + around_.limits.queue.retry.most;
    queue_.add_at(look.key, memory.ask_again);
  }
  for (const Repairs& repairs : memory.repairs) {
    if (repairs.until > now()) queue_.add_at(look.key, repairs.until);
  }
  forget_if_idle(look.key);
  pump();
}

void Syncer::forget_if_idle(const std::string& key) {
  if (ends_[upstream].cache.find(key) || ends_[downstream].cache.find(key)) return;
  const auto memory = memory_.find(key);
  if (queue_.known(key) || memory == memory_.end()) return;
  note(memory->second, {});
  memory_.erase(memory);
}

}  // namespace davit::federation
