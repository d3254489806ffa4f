#include "syncer.hpp"

#include <boost/json.hpp>

#include "kubernetes/json.hpp"

namespace davit::federation {
namespace {

using namespace std::chrono_literals;

// After a create, its watch shows the object within this time, or the object has gone again.
constexpr auto created_shown_within = 5s;
// Who has not changed it for so long has stopped.
constexpr auto fight_over_after = 5min;
constexpr size_t steps_max = 4;  // of one look: create or update, then the status, and a refusal

std::string verb_of(Does does) {
  switch (does) {
    case Does::create:
      return DAVIT_VERB_CREATE;
    case Does::remove:
      return DAVIT_VERB_DELETE;
    default:
      return DAVIT_VERB_UPDATE;
  }
}

void without_managers(json::object& object) {
  kubernetes::object_made(object, "metadata").erase("managedFields");
}

std::string text_of(const cluster::Response& r) {
  const std::string http = r.http_status == 0 ? "no answer" : std::to_string(r.http_status);
  return http + (r.message.empty() ? "" : ": " + r.message);
}

json::value parse(std::string_view text) {
  boost::system::error_code bad;
  json::value value = json::parse(json::string_view(text.data(), text.size()), bad);
  return bad || !value.is_object() ? json::value(json::object()) : value;
}

}  // namespace

Syncer::Syncer(const Surroundings& around, Rules rules, std::string ns)
    : around_(around),
      rules_(std::move(rules)),
      ns_(std::move(ns)),
      ends_{{rules_.swapped ? around.downstream : around.upstream,
             nullptr,
             controller::ObjectCache(without_managers),
             false,
             {},
             {}},
            {rules_.swapped ? around.upstream : around.downstream,
             nullptr,
             controller::ObjectCache(without_managers),
             false,
             {},
             {}}},
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
    ends_[side].watch = std::make_shared<Watched>(around_.strand, around_.outstanding);
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
  operation_.cancel();
}

void Syncer::event(Side side, int32_t type, std::string_view object) {
  End& end = ends_[side];
  for (const std::string& key : end.cache.event(type, object)) {
    Memory& memory = memory_[key];
    memory.from_upstream = side == upstream;
    if (side == downstream) memory.written.created.clear();
    queue_.add(key, now());
  }
  const bool complete = end.cache.complete();
  end.objects.set(static_cast<double>(end.cache.size()));
  if (complete != end.was_complete) {
    end.was_complete = complete;
    end.up.set(complete ? 1 : 0);
    if (complete) {
      // What could not be decided can be now, and what failed may work again.
      queue_.hurry(now());
      for (const End& each : ends_) {
        for (const std::string& key : each.cache.keys()) queue_.add(key, now());
      }
    }
  }
  around_.told();
  pump();
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
  const auto u = ends_[upstream].cache.find(key), d = ends_[downstream].cache.find(key);
  const json::value up = u ? parse(*u) : json::value(), down = d ? parse(*d) : json::value();
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
  if (look.steps++ >= steps_max) return fail(look);  // somebody undoes it: it rests
  const auto denied = denied_.find(look.action.does);
  if (denied != denied_.end() && denied->second.second > now()) {
    const auto rest = denied->second.second - now();
    return fail(look, std::chrono::ceil<std::chrono::milliseconds>(rest));
  }
  // The one that asks keeps the others waiting until it has its answer.
  if (denied != denied_.end()) denied->second.second = now() + around_.limits.request_timeout;
  send(std::move(look));
}

cluster::Request Syncer::request_of(const Look& look) const {
  const auto [ns, name] = controller::split_key(look.key);
  cluster::Request q;
  q.verb = verb_of(look.action.does);
  q.resource = rules_.resource;
  q.ns = ns;
  if (look.action.does != Does::create) q.name = name;
  if (look.action.does == Does::status && rules_.status == StatusWrite::subresource)
    q.subresource = "status";
  if (look.action.does == Does::remove) {
    q.body = json::serialize(json::object{
        {"apiVersion", "v1"},
        {"kind", "DeleteOptions"},
        {"preconditions",
         {{"uid", look.action.uid}, {"resourceVersion", look.action.resource_version}}}});
  } else {
    q.query = {{"fieldManager", "davit-federation"}};
    q.body = json::serialize(look.action.object);
  }
  return q;
}

void Syncer::call(Side side, const cluster::Request& request,
                  std::function<void(cluster::Response)> done) {
  cluster::Request q = request;
  q.deadline_ns = (now() + around_.limits.request_timeout).count();
  ends_[side]
      .client.under(operation_)
      .request(q, [self = shared_from_this(), ticket = around_.outstanding.begin(),
                   done = std::move(done)](cluster::Response r) {
        self->around_.strand.post([self, ticket, done, r = std::move(r)] {
          if (!self->closed_) done(r);
        });
      });
}

void Syncer::send(Look look) {
  requests_[look.action.does].add();
  const auto request = request_of(look);
  const Side side = side_of(look.action);
  call(side, request,
       [this, look = std::move(look)](const cluster::Response& r) { answered(look, r); });
}

void Syncer::answered(Look look, const cluster::Response& r) {
  const Does does = look.action.does;
  const bool forbidden = r.code == Code::permission_denied || r.code == Code::unauthenticated;
  if (!forbidden && denied_.erase(does) > 0) queue_.hurry(now());
  switch (r.code) {
    case Code::ok:
      return done(std::move(look), r);
    case Code::not_found:
      // The object has gone, which its watch tells; or there is no such namespace.
      if (does == Does::remove) return done(std::move(look), r);
      if (does == Does::create) return refused(std::move(look), r);
      return fail(look);
    case Code::already_exists:
    case Code::aborted:
      return read(std::move(look));
    case Code::invalid_argument:
      return refused(std::move(look), r);
    default:
      break;
  }
  if (forbidden) {
    auto& [backoff, until] =
        denied_.try_emplace(does, Backoff(around_.limits.queue.retry), Time(0)).first->second;
    until = now() + backoff.next(around_.host.random(), r.retry_after);
  }
  say_failing(does, text_of(r));
  fail(look, r.retry_after);
}

void Syncer::done(Look look, const cluster::Response& r) {
  Memory& memory = memory_[look.key];
  const Action& action = look.action;
  say_working(action.does);
  if (action.does == Does::remove) {
    memory.written.removed = action.uid;
    return step(std::move(look));
  }
  if (action.does == Does::status) {
    accepted(memory, upstream, memory.written.status_wanted, action.hash);
    ends_[upstream].cache.put(r.body);
    return step(std::move(look));
  }
  const json::value body = parse(r.body);
  json::object made = body.get_object();
  without_managers(made);
  accepted(memory, downstream, memory.written.wanted, action.hash);
  memory.written.became = hash_of(content_of(rules_, made));
  memory.written.refused = 0;
  if (action.does == Does::create) {
    if (!ends_[downstream].cache.find(look.key)) memory.written.created = uid_of(made);
    memory.created_until = now() + created_shown_within;
  } else if (std::exchange(memory.hidden, nullptr) != nullptr) {
    // Now the selector selects it, so the watch will show it.
    memory.written.created = uid_of(made);
    memory.created_until = now() + created_shown_within;
  } else {
    ends_[downstream].cache.put(r.body);
  }
  if (!memory.written.created.empty()) queue_.add_at(look.key, memory.created_until);
  step(std::move(look));
}

void Syncer::accepted(Memory& memory, Side side, size_t& before, size_t hash) {
  const bool repair = std::exchange(before, hash) == hash;
  if (!repair) return;
  Repairs& repairs = memory.repairs[side];
  if (repairs.until == Time(0) || now() > repairs.until + fight_over_after)
    repairs.backoff = Backoff(around_.limits.queue.retry);
  repairs.until = now() + repairs.backoff.next(around_.host.random());
}

void Syncer::read(Look look) {
  cluster::Request q;
  q.verb = DAVIT_VERB_GET;
  q.resource = rules_.resource;
  std::tie(q.ns, q.name) = controller::split_key(look.key);
  const Side side = side_of(look.action);
  call(side, q, [this, look = std::move(look)](const cluster::Response& r) { was_read(look, r); });
}

void Syncer::was_read(const Look& look, const cluster::Response& r) {
  Memory& memory = memory_[look.key];
  const bool hidden = look.action.does == Does::create || memory.hidden != nullptr;
  memory.hidden.reset();
  if (r.code == Code::ok) {
    ends_[side_of(look.action)].cache.put(r.body);
    if (hidden && side_of(look.action) == downstream) {
      json::object found = parse(r.body).get_object();
      without_managers(found);
      memory.hidden = std::make_shared<const json::object>(std::move(found));
    }
  }
  fail(look);
}

void Syncer::refused(Look look, const cluster::Response& r) {
  if (look.action.does == Does::remove) {
    say_failing(look.action.does, text_of(r));
    return fail(look, r.retry_after);
  }
  Written& written = memory_[look.key].written;
  const bool status = look.action.does == Does::status;
  (status ? written.status_refused : written.refused) = look.action.hash;
  written.refusal = std::string(name_of(look.action.does)) +
                    (status ? " upstream" : " downstream") + " is refused: " + text_of(r);
  look.stuck = true;
  step(std::move(look));  // something else may be left to do
}

void Syncer::fail(const Look& look, std::chrono::milliseconds retry_after) {
  errors_[memory_[look.key].from_upstream ? upstream : downstream].add();
  queue_.failed(look.key, now(), around_.host.random(), retry_after);
  pump();
}

void Syncer::finish(const Look& look) {
  queue_.succeeded(look.key, now());
  if (look.stuck) {
    // An event is looked at at once, because it may be the cure. What was refused is not sent again
    // before this time.
    Memory& memory = memory_[look.key];
    errors_[memory.from_upstream ? upstream : downstream].add();
    if (memory.ask_again == Time(0)) memory.ask_again = now() + around_.limits.queue.retry.most;
    queue_.add_at(look.key, memory.ask_again);
  }
  for (const Repairs& repairs : memory_[look.key].repairs) {
    if (repairs.until > now()) queue_.add_at(look.key, repairs.until);
  }
  forget_if_idle(look.key);
  pump();
}

void Syncer::forget_if_idle(const std::string& key) {
  if (ends_[upstream].cache.find(key) || ends_[downstream].cache.find(key)) return;
  if (queue_.known(key)) return;
  memory_.erase(key);
}

}  // namespace davit::federation
