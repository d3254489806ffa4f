#include "events.hpp"

#include <boost/json.hpp>

#include "decide.hpp"
#include "kubernetes/event.hpp"
#include "kubernetes/fingerprint.hpp"

namespace davit::clusters {
namespace {

using namespace std::chrono_literals;

// As client-go: 25 at once for one object, then one in five minutes. A "byte" is a second of it.
constexpr PaceLimits per_cluster{.bytes_per_second = 1, .burst_bytes = 25 * 300};
constexpr size_t one_event = 300;
constexpr auto counted_within = 10min;
constexpr auto request_timeout = 30s;

}  // namespace

void EventRecorder::record(const About& about, const actuator::Event& event) {
  if (closed_) return;
  const Time now = host_.now();
  const int64_t unix_ms = host_.unix_ms();
  forget_old(now);
  const uint64_t hash =
      kubernetes::fingerprint(json::array{about.uid, event.reason, event.message});
  Told& told = told_.try_emplace(hash, Told{unix_ms}).first->second;
  ++told.times;
  told.last = now;
  if (!may(about.uid, now)) {
    if (told.times == 1) told_.erase(hash);  // what was never written is not remembered
    return;
  }
  auto q = kubernetes::event_request(
      {clusters_resource, "Cluster", about.ns, about.name, about.uid},
      {event.warning, event.reason, event.message}, hash, {told.first_unix_ms, unix_ms, told.times},
      {"davit-clusters", "davit-clusters"});
  q.deadline_ns = (now + request_timeout).count();
  send(q, hash);
}

void EventRecorder::close() {
  closed_ = true;
  operation_.cancel();
}

bool EventRecorder::may(const std::string& uid, Time now) {
  Pace& pace = paces_.try_emplace(uid, per_cluster).first->second;
  if (pace.begins() > now) return false;
  pace.spend(one_event, now);
  return true;
}

void EventRecorder::forget_old(Time now) {
  std::erase_if(told_, [&](const auto& entry) { return now - entry.second.last > counted_within; });
  std::erase_if(paces_, [&](const auto& entry) { return entry.second.rested(now); });
}

void EventRecorder::send(const cluster::Request& request, uint64_t hash) {
  cluster_.under(operation_)
      .request(request, [self = shared_from_this(), ticket = outstanding_.begin(),
                         hash](cluster::Response r) {
        self->strand_.post([self, ticket, hash, r = std::move(r)] {
          if (self->closed_) return;
          if (r.code == Code::ok) {
            self->failing_ = false;
            return;
          }
          self->told_.erase(hash);
          if (std::exchange(self->failing_, true)) return;
          self->host_.warn("events cannot be written", {{"reason", r.message}});
        });
      });
}

}  // namespace davit::clusters
