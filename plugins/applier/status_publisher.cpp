#include "status_publisher.hpp"

#include <algorithm>
#include <string>

namespace davit::applier {
namespace {

uint64_t fingerprint_of(const Status& s) {
  std::string all = s.key.id;
  const auto add = [&all](const std::string& text) { all.append(1, '\n').append(text); };
  const auto count = [&all](int64_t n) { all.append(1, '\n').append(std::to_string(n)); };
  count(s.gone ? 1 : 0);
  count(static_cast<int64_t>(s.observed_version.value()));
  count(static_cast<int64_t>(s.observed_incarnation.value()));
  for (const auto* text : {&s.health, &s.message, &s.parked, &s.detail}) add(*text);
  for (const int64_t n : {s.desired, s.updated, s.ready, s.stale}) count(n);
  for (const Child& c : s.children) {
    for (const auto* text : {&c.name, &c.address, &c.status}) add(*text);
    count(c.cpu_millicores);
    count(c.memory_mib);
  }
  return std::hash<std::string>{}(all) | 1;  // 0 means none
}

}  // namespace

void StatusPublisher::status(const std::string& kind, RecordEntry& entry, Status status) const {
  if (!to_) return;
  status.key = {kind, region_, entry.id};
  status.ns = entry.ns;
  status.name = entry.name;
  // A status is about the version that was applied last. The status of a parked record is about the
  // version that is parked.
  const bool parked = entry.state == RecordEntry::State::parked;
  status.observed_version = parked ? entry.version : entry.applied_at.version;
  status.observed_incarnation = parked ? entry.incarnation : entry.applied_at.incarnation;
  // A record that a snapshot left out is gone as of that snapshot's version.
  if (status.gone) status.observed_version = std::max(status.observed_version, entry.pruned_at);
  status.parked = parked ? entry.parking.reason() : std::string();
  if (status.health.empty()) status.health = "unknown";
  const uint64_t told = fingerprint_of(status);
  if (told == entry.status_offered) return;
  entry.status_offered = told;
  offer(status);
}

void StatusPublisher::gone(const std::string& kind, const GoneRecord& record) const {
  if (!to_) return;
  Status status;
  status.key = {kind, region_, record.id};
  status.ns = record.ns;
  status.name = record.name;
  status.observed_version = record.version;
  status.health = "unknown";
  status.gone = true;
  offer(status);
}

void StatusPublisher::offer(const Status& status) const {
  const auto r = to_->offer(status);
  if (r.ok()) return;
  host_.error("the status sink refuses a status",
              {{"kind", status.key.kind}, {"id", status.key.id}, {"reason", r.error().message}});
}

void StatusPublisher::issue(const std::string& kind, RecordEntry& entry,
                            const std::string& condition, const std::string& reason) const {
  if (entry.issue_id != entry.id && !entry.issue.empty()) {  // another record has taken the name
    if (to_)
      to_->issue(region_, {kind, entry.issue_id, entry.ns, entry.name, entry.version, {}, {}});
    entry.issue.clear();
  }
  const std::string now = condition.empty() ? std::string() : condition + ": " + reason;
  if (now == entry.issue) return;
  entry.issue = now;
  entry.issue_id = entry.id;
  log(kind, entry, condition, reason);
  if (to_)
    to_->issue(region_, {kind, entry.id, entry.ns, entry.name, entry.version, condition, reason,
                         entry.incarnation});
}

void StatusPublisher::of_kind(const std::string& kind, const std::string& name,
                              const std::string& condition, const std::string& reason) const {
  if (!to_) return;
  to_->issue(region_,
             {kind, {}, {}, name, Version(), reason.empty() ? std::string() : condition, reason});
}

void StatusPublisher::log(const std::string& kind, const RecordEntry& entry,
                          const std::string& condition, const std::string& reason) const {
  const std::string record = entry.ns + "/" + entry.name;
  const std::string version = to_string(entry.version);
  if (condition.empty()) {
    host_.info("record is in order again",
               {{"kind", kind}, {"id", entry.id}, {"record", record}, {"version", version}});
  } else {
    host_.warn("record is " + condition, {{"kind", kind},
                                          {"id", entry.id},
                                          {"record", record},
                                          {"version", version},
                                          {"reason", reason}});
  }
}

}  // namespace davit::applier
