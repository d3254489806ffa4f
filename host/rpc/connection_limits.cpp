#include "connection_limits.hpp"

#include <cerrno>

#include <davit/types.hpp>

#include "core.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "settings.hpp"
#include "system_words.hpp"

namespace davit::host {

namespace {

davit_metric* metric(const Core& core, int32_t type, const char* name, const char* help,
                     const std::string& server) {
  const davit_pair label{str("server"), str(server)};
  return core.metrics.metric(type, name, help, &label, 1);
}

std::string number(uint64_t n) {
  return std::to_string(n);
}

}  // namespace

ConnectionLimits::ConnectionLimits(const Core& core, const ServerSettings& s)
    : server_(s.name),
      most_(static_cast<size_t>(s.connections_max)),
      of_one_address_(static_cast<size_t>(s.connections_per_address_max)),
      log_(core.log),
      health_(core.health),
      connections_(
          metric(core, DAVIT_GAUGE, "davit_rpc_connections", "connections of callers", s.name)),
      refused_(metric(core, DAVIT_COUNTER, "davit_rpc_connections_refused_total",
                      "connections that a limit refused", s.name)),
      quota_(most_, of_one_address_) {}

bool ConnectionLimits::enter(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto verdict = quota_.enter(address);
  if (verdict != Quota::Verdict::in) {
    refused(verdict, address);
    return false;
  }
  Metrics::set(connections_, static_cast<double>(quota_.size()));
  return true;
}

void ConnectionLimits::refused(Quota::Verdict verdict, const std::string& address) {
  Metrics::add(refused_, 1);
  const bool full = verdict == Quota::Verdict::full;
  if (!(full ? full_ : address_full_).happens(std::chrono::steady_clock::now())) return;
  log_.warn("rpc", "connections are refused",
            {{"server", server_},
             {"limit", full ? "connections_max" : "connections_per_address_max"},
             {"most", number(full ? most_ : of_one_address_)},
             {"address", address}});
  tell_health();
}

void ConnectionLimits::leave(const std::string& address) {
  const std::lock_guard lock(mutex_);
  quota_.leave(address);
  Metrics::set(connections_, static_cast<double>(quota_.size()));
}

bool ConnectionLimits::has_room(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  return quota_.has_room(address);
}

void ConnectionLimits::starve(int error) {
  const std::lock_guard lock(mutex_);
  const bool begins = starved_.happens(std::chrono::steady_clock::now());
  const bool descriptors = error == EMFILE || error == ENFILE;
  starved_of_ = descriptors ? "no file descriptor is left for connections"
                            : "connections cannot be accepted: " + system_words(error);
  tell_health();
  if (!begins) return;
  if (descriptors) {
    log_.error("rpc", "no file descriptor is left; connections wait (raise LimitNOFILE)",
               {{"server", server_}, {"connections", number(quota_.size())}});
  } else {
    log_.error("rpc", "connections cannot be accepted; they wait",
               {{"server", server_},
                {"connections", number(quota_.size())},
                {"what", system_words(error)}});
  }
}

void ConnectionLimits::look_after() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  for (auto [episode, limit] :
       {std::pair{&full_, "connections_max"}, {&address_full_, "connections_per_address_max"}}) {
    if (const auto times = episode->is_over(now)) {
      log_.info("rpc", "connections are let in again",
                {{"server", server_}, {"limit", limit}, {"refused", number(*times)}});
    }
  }
  if (starved_.is_over(now))
    log_.info("rpc", "connections are accepted again", {{"server", server_}});
  tell_health();
}

size_t ConnectionLimits::size() const {
  const std::lock_guard lock(mutex_);
  return quota_.size();
}

// While the system lets none be accepted nobody can connect: not serving. At connections_max the
// existing connections still work: degraded.
void ConnectionLimits::tell_health() {
  const int32_t now = starved_.is_on() ? DAVIT_HEALTH_NOT_SERVING
                      : full_.is_on()  ? DAVIT_HEALTH_DEGRADED
                                       : DAVIT_HEALTH_SERVING;
  std::string why = starved_.is_on() ? starved_of_
                    : full_.is_on()
                        ? "there are connections_max = " + number(most_) + " connections"
                        : "";
  if (std::exchange(told_, now) == now && why == told_why_) return;
  told_why_ = std::move(why);
  health_.set("rpc.server." + server_, now, told_why_);
}

}  // namespace davit::host
