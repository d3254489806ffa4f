#include "controller.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <davit/ascii.hpp>

#include "kubernetes/fingerprint.hpp"
#include "kubernetes/json.hpp"

namespace davit::clusters {
namespace {

using namespace std::chrono_literals;
using How = Pass::End::How;

// Somebody else has changed the status: it is looked at, but not in a tight loop with them.
constexpr auto status_rests = 1s;

uint64_t status_of(const json::object& cluster) {
  const auto* status = kubernetes::value_in(&cluster, "status");
  return kubernetes::fingerprint(status == nullptr ? json::value(json::object()) : *status);
}

// All but the status, and what the API server notes about each write.
uint64_t asked_of(json::object cluster) {
  cluster.erase("status");
  json::object& meta = kubernetes::object_made(cluster, "metadata");
  meta.erase("resourceVersion");
  meta.erase("managedFields");
  return kubernetes::fingerprint(cluster);
}

}  // namespace

Controller::Controller(Host host, Configuration configuration, cluster::Client cluster,
                       std::vector<Actuator> providers, std::vector<Actuator> addons,
                       Outstanding& outstanding)
    : around_{host,
              host.strand(),
              std::move(configuration),
              cluster,
              std::move(providers),
              std::move(addons),
              outstanding,
              nullptr,
              [this](const std::string& key, const std::string& object) {
                clusters_.put(object);
                const json::object written = kubernetes::object_of(object);
                memory_[key].status = status_of(written);
                memory_[key].asked = asked_of(written);
              },
              [this](const std::string& key, const std::string& object) {
                clusters_.put(object);
                has_changed(key);
              },
              [this](const std::string& key, const json::object& status) {
                memory_[key].status = kubernetes::fingerprint(status);
              },
              [this](const Actuator& a, bool removes, Code code, Time took) {
                called(a, removes, code, took);
              }},
      queue_(around_.configuration.limits.queue),
      retries_(around_.configuration.limits.retries),
      timer_(around_.strand),
      resync_timer_(around_.strand) {
  around_.events = std::make_shared<EventRecorder>(host, around_.strand, cluster, outstanding);
}

void Controller::start() {
  around_.strand.post([self = shared_from_this()] {
    if (self->stopped_) return;
    const Configuration& c = self->around_.configuration;
    cluster::WatchRequest request;
    request.resource = clusters_resource;
    request.ns = c.ns;
    self->watch_ =
        std::make_shared<controller::Watched>(self->around_.strand, self->around_.outstanding);
    self->watch_->open(self->around_.cluster, request, c.limits.watch_credit,
                       [controller = self.get()](int32_t type, std::string_view object) {
                         controller->event(type, object);
                       });
    self->resync();
    self->show_health();
  });
}

void Controller::stop() {
  around_.strand.post([self = shared_from_this(), ticket = around_.outstanding.begin()] {
    self->stopped_ = true;
    self->timer_.cancel();
    self->resync_timer_.cancel();
    if (self->watch_) self->watch_->close();
    self->around_.events->close();
    for (auto& [key, memory] : self->memory_)
      if (memory.pass) memory.pass->close();
  });
}

void Controller::event(int32_t type, std::string_view object) {
  const bool was = clusters_.complete();
  for (const std::string& key : clusters_.event(type, object)) has_changed(key);
  if (!was && clusters_.complete()) queue_.hurry(now());
  show_health();
  pump();
}

void Controller::has_changed(const std::string& key) {
  Memory& memory = memory_[key];
  const auto text = clusters_.find(key);
  const json::object cluster = text ? kubernetes::object_of(*text) : json::object();
  const uint64_t asked = asked_of(cluster), status = status_of(cluster);
  const bool other = std::exchange(memory.asked, asked) != asked;
  const bool other_status = std::exchange(memory.status, status) != status;
  if (other) {
    queue_.changed(key, now());
  } else if (other_status) {
    queue_.add(key, now() + status_rests);
  }
  // The call that is open is about a Cluster that is to go, or has gone.
  const bool goes = !text || step_of(cluster) == Step::remove || step_of(cluster) == Step::nothing;
  if (memory.pass && !memory.pass->removes() && goes) memory.pass->give_up();
  if (memory.pass && !text) memory.pass->give_up();
}

// Works only by a complete picture: what has gone must not be built anew.
void Controller::pump() {
  if (stopped_ || pumping_) return;
  if (clusters_.state() != controller::ObjectCache::State::complete) return timer_.cancel();
  pumping_ = true;  // a pass that needs no request ends inside of this loop
  while (auto key = queue_.take(now())) look(*key);
  pumping_ = false;
  const auto due = queue_.due();
  if (!due) return timer_.cancel();
  timer_.after(std::max(*due - now(), Time(0)), [this] { pump(); });
}

void Controller::look(const std::string& key) {
  Memory& memory = memory_[key];
  if (memory.pass && memory.pass->answered()) {
    memory.pass.reset();
    memory.abandoned = false;
    show_health();
  }
  if (memory.pass) return ended(key, {How::abandoned, 0ms, {}});
  const auto text = clusters_.find(key);
  if (!text) {
    count(memory, "");
    queue_.succeeded(key);
    memory_.erase(key);
    return;
  }
  if (now() >= memory.again) memory.again = Time(0);
  auto pass = std::make_shared<Pass>(around_, key, *text,
                                     [this, key](const Pass::End& end) { ended(key, end); });
  memory.pass = pass;
  pass->run();
}

void Controller::ended(const std::string& key, const Pass::End& end) {
  Memory& memory = memory_[key];
  const bool abandoned = end.how == How::abandoned;
  const bool first = abandoned && !std::exchange(memory.abandoned, abandoned);
  if (!abandoned) memory.pass.reset();
  if (!abandoned || first) count(memory, lower_first(reason_of(end.found)));
  switch (end.how) {
    case How::done:
      queue_.succeeded(key);
      break;
    case How::again:
      memory.again = now() + end.after;
      queue_.postponed(key);
      break;
    case How::failed:
    case How::abandoned: {
      const auto paced = std::chrono::ceil<std::chrono::milliseconds>(
          std::max(retries_.begins() - now(), Time(0)));
      retries_.spend(1, now());
      queue_.failed(key, now(), around_.host.random(), std::max(end.after, paced));
      break;
    }
  }
  // Each time again: the queue knows of one time for each key, the earliest.
  if (end.how == How::again || memory.again > now()) queue_.add_at(key, memory.again);
  if (abandoned) show_health();
  around_.strand.post(
      [self = shared_from_this(), ticket = around_.outstanding.begin()] { self->pump(); });
}

void Controller::resync() {
  for (const std::string& key : clusters_.keys()) queue_.add_at(key, now());
  resync_timer_.after(around_.configuration.limits.resync, [this] { resync(); });
  pump();
}

void Controller::count(Memory& memory, const std::string& phase) {
  for (const auto& [name, by] : {std::pair(memory.phase, -1.0), std::pair(phase, 1.0)}) {
    if (name.empty()) continue;
    phases_[name] += by;
    around_.host.gauge("davit_clusters", "Clusters, by how they stand", {{"phase", name}})
        .set(phases_[name]);
  }
  memory.phase = phase;
}

void Controller::called(const Actuator& actuator, bool removes, Code code, Time took) {
  const Pairs labels{{"actuator", actuator.instance},
                     {"operation", removes ? "remove" : "reconcile"}};
  Pairs with_code = labels;
  with_code.emplace_back("code", std::to_string(static_cast<int>(code)));
  around_.host
      .counter("davit_clusters_calls_total", "Answers of actuators, by their code", with_code)
      .add();
  around_.host.histogram("davit_clusters_call_seconds", "How long actuators took to answer", labels)
      .observe(std::chrono::duration<double>(took));
}

void Controller::show_health() {
  std::string trouble;
  if (const std::string reason = clusters_.reason(); !reason.empty())
    trouble = "the Clusters: " + reason;
  for (const auto& [key, memory] : memory_) {
    if (!trouble.empty() || !memory.abandoned) continue;
    trouble = "an actuator does not answer for " + key;
  }
  if (trouble == health_) return;
  health_ = trouble;
  around_.host.health(trouble.empty() ? DAVIT_HEALTH_SERVING : DAVIT_HEALTH_DEGRADED, trouble);
}

}  // namespace davit::clusters
