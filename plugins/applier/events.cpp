#include "events.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "kubernetes/event.hpp"
#include "meaning.hpp"

namespace davit::applier {
namespace {

constexpr size_t waiting_max = 64;
constexpr size_t said_max = 2'000;

// The bucket of a Pace fills by the second. An event costs a minute's worth of seconds.
constexpr size_t cost = 60;

PaceLimits limits_of(size_t events_per_minute) {
  return {.bytes_per_second = events_per_minute, .burst_bytes = events_per_minute * cost};
}

uint64_t hash_of(const Event& e) {
  return fingerprint(json::array{e.about.name.path(), e.about.uid, e.reason, e.message});
}

}  // namespace

Events::Events(Host host, ReconcileContext& context, Strand strand, std::function<void()> refused,
               std::function<void()> ended)
    : host_(host),
      context_(context),
      strand_(std::move(strand)),
      refused_(std::move(refused)),
      ended_(std::move(ended)),
      pace_(limits_of(context.rules.events_per_minute)),
      written_(host.counter("davit_applier_events_total", "Events of Kubernetes written")),
      dropped_(host.counter("davit_applier_events_dropped_total",
                            "Events of Kubernetes that were too many or could not be written")) {}

void Events::say(Event event) {
  if (stopped_ || context_.rules.events_per_minute == 0 || event.about.kind.empty()) return;
  const uint64_t hash = hash_of(event);
  const Time now = host_.now();
  Said& one = said(hash);
  ++one.times;
  if (one.written_at.count() > 0 && now - one.written_at < repeat_after) return;
  if (!has_room(now)) return dropped_.add();
  one.written_at = std::max(now, Time(1));
  waiting_.push_back({std::move(event), hash});
  next();
}

Events::Said& Events::said(uint64_t hash) {
  const auto [at, fresh] = said_.try_emplace(hash);
  if (!fresh) return at->second;
  at->second.first_unix_ms = host_.unix_ms();
  order_.push_back(hash);
  if (order_.size() > said_max) {
    said_.erase(order_.front());
    order_.pop_front();
  }
  return at->second;
}

bool Events::has_room(Time now) {
  if (waiting_.size() >= waiting_max || now < pace_.begins()) return false;
  pace_.spend(cost, now);
  return true;
}

void Events::stop() {
  stopped_ = true;
  waiting_.clear();
}

void Events::next() {
  if (under_way_ || waiting_.empty()) return;
  under_way_ = true;
  const cluster::Request q = request_for(waiting_.front());
  waiting_.pop_front();
  context_.cluster.request(
      q, [this](cluster::Response r) { strand_.post([this, r = std::move(r)] { answered(r); }); });
}

void Events::answered(const cluster::Response& r) {
  under_way_ = false;
  if (stopped_) return ended_();
  if (r.code == Code::ok) {
    written_.add();
  } else {
    dropped_.add();
  }
  if (meaning(r, true) == Meaning::no_right) refused_();
  next();
}

cluster::Request Events::request_for(const Waiting& waiting) {
  const auto& [event, hash] = waiting;
  const ObjectName& about = event.about.name;
  const Said& one = said(hash);
  auto q = kubernetes::event_request(
      {about.resource, event.about.kind, about.ns, about.name, event.about.uid},
      {event.warning, event.reason, event.message}, hash,
      {one.first_unix_ms, host_.unix_ms(), one.times},
      {"davit-agent", context_.rules.field_manager});
  q.deadline_ns = (host_.now() + context_.rules.request_timeout).count();
  return q;
}

}  // namespace davit::applier
