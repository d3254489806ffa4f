#include "events.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include <davit/rfc3339.hpp>
#include <davit/utf8.hpp>

#include "meaning.hpp"

namespace davit::applier {
namespace {

constexpr size_t waiting_max = 64;
constexpr size_t said_max = 2'000;
constexpr size_t message_max = 1'000;  // the API server takes 1,024 bytes

// The bucket of a Pace fills by the second. An event costs a minute's worth of seconds.
constexpr size_t cost = 60;

PaceLimits limits_of(size_t events_per_minute) {
  return {.bytes_per_second = events_per_minute, .burst_bytes = events_per_minute * cost};
}

uint64_t hash_of(const Event& e) {
  return fingerprint(json::array{e.about.name.path(), e.about.uid, e.reason, e.message});
}

// The name of an event has to be a DNS subdomain. That of an object may be more.
std::string event_name(const std::string& object, uint64_t hash) {
  constexpr size_t object_max = 253 - 17;
  std::string out = object.substr(0, object_max);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!plain) c = c == '.' ? '.' : '-';
  }
  // Each of its labels has to begin and to end with a letter or a digit.
  for (size_t i = 0; i < out.size(); ++i) {
    const bool edge = i == 0 || i + 1 == out.size() || out[i - 1] == '.' || out[i + 1] == '.';
    if (edge && (out[i] == '-' || out[i] == '.')) out[i] = 'x';
  }
  return out + "." + hex(hash);
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

// An apply of an event under a name of its own: it makes the event, or counts it up.
cluster::Request Events::request_for(const Waiting& waiting) {
  const auto& [event, hash] = waiting;
  const ObjectName& about = event.about.name;
  const std::string& group = about.resource.group;
  const Said& one = said(hash);
  json::object involved{
      {"apiVersion", group.empty() ? about.resource.version : group + "/" + about.resource.version},
      {"kind", event.about.kind},
      {"name", about.name}};
  if (!about.ns.empty()) involved["namespace"] = about.ns;
  if (!event.about.uid.empty()) involved["uid"] = event.about.uid;
  // Events of objects that have no namespace are kept in this one.
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const std::string name = event_name(about.name, hash);
  const json::object body{{"apiVersion", "v1"},
                          {"kind", "Event"},
                          {"metadata", json::object{{"name", name}, {"namespace", ns}}},
                          {"involvedObject", std::move(involved)},
                          {"type", event.warning ? "Warning" : "Normal"},
                          {"reason", event.reason},
                          {"message", shortened(event.message, message_max)},
                          {"source", json::object{{"component", "davit-agent"}}},
                          {"firstTimestamp", rfc3339(one.first_unix_ms)},
                          {"lastTimestamp", rfc3339(host_.unix_ms())},
                          {"count", one.times}};
  cluster::Request q = ObjectName{{"", "v1", "events"}, ns, name}.request(DAVIT_VERB_APPLY);
  q.query = {{"fieldManager", context_.rules.field_manager}, {"force", "true"}};
  q.body = json::serialize(body);
  q.deadline_ns = (host_.now() + context_.rules.request_timeout).count();
  return q;
}

}  // namespace davit::applier
