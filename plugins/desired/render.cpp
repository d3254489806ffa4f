#include "render.hpp"

#include <davit/v1/operator.pb.h>

namespace davit::desired {

void to_wire(const Status& s, v1::Status* out) {
  out->set_kind(s.key.kind);
  out->set_id(s.key.id);
  out->set_region(s.key.region);
  out->set_observed_version(s.observed_version.value());
  out->set_health(s.health);
  out->set_desired(s.desired);
  out->set_updated(s.updated);
  out->set_ready(s.ready);
  out->set_stale(s.stale);
  out->set_message(s.message);
  out->set_parked(s.parked);
  for (const auto& c : s.children) {
    auto* child = out->add_children();
    child->set_name(c.name);
    child->set_address(c.address);
    child->set_status(c.status);
    child->set_cpu_millicores(c.cpu_millicores);
    child->set_memory_mib(c.memory_mib);
  }
  out->set_detail(s.detail);
  out->set_gone(s.gone);
  out->set_epoch(s.epoch.value());
  out->set_sequence(s.sequence);
  out->set_reported_at_unix_ms(s.reported_at_unix_ms);
}

void to_wire(const Agent& a, v1::AgentStatus* out) {
  const Progress& p = a.progress;
  out->set_region(p.region);
  out->set_agent(p.agent);
  out->set_software(p.software);
  out->set_seen_at_unix_ms(p.seen_at_unix_ms);
  out->set_lag(a.lag);
  out->set_taken_over(a.taken_over);
  for (const auto& k : p.kinds) {
    auto* kind = out->add_kinds();
    kind->set_kind(k.kind);
    kind->mutable_applied()->set_incarnation(k.applied.incarnation.value());
    kind->mutable_applied()->set_version(k.applied.version.value());
  }
  for (const auto& i : p.issues) {
    auto* issue = out->add_issues();
    issue->set_kind(i.kind);
    issue->set_id(i.id);
    issue->set_namespace_(i.ns);
    issue->set_name(i.name);
    issue->set_version(i.version.value());
    issue->set_incarnation(i.incarnation.value());
    issue->set_condition(i.condition);
    issue->set_reason(i.reason);
  }
}

Wanted wanted(const davit_record& r) {
  return {text(r.ns),
          text(r.name),
          text(r.state),
          Version(r.version),
          (r.flags & DAVIT_RECORD_LIVE) != 0,
          r.committed_at_unix_ms,
          {}};
}

void render(const Key& key, const Wanted& record, const Status* observed,
            const Conditions& conditions, v1::ObjectStatus* out) {
  out->set_kind(key.kind);
  out->set_region(key.region);
  out->set_id(key.id);
  out->set_namespace_(record.ns);
  out->set_name(record.name);
  out->set_state(record.state);
  out->set_version(record.version.value());
  out->set_live(record.live);
  out->set_committed_at_unix_ms(record.committed_at_unix_ms);
  if (observed != nullptr) {
    to_wire(*observed, out->mutable_observed());
    out->mutable_observed()->set_gone(is_gone(record, *observed));
    if (conditions.is_unseen(key, observed)) out->mutable_observed()->set_health("unknown");
  }
  Condition c = conditions.of(key, record.version, observed);
  // A Davit agent on ctrl.v1 gets the record, and reports the version that it observed.
  const bool has_it = observed != nullptr && observed->observed_version == record.version;
  if (c.word.empty() && !has_it && conditions.only_ctrl_v1(key.region)) c = record.unsent;
  out->set_condition(c.word);
  out->set_reason(c.reason);
}

void render(const Selection& selection, const Conditions& conditions, v1::StatusResponse* out) {
  for (const auto& a : conditions.agents()) {
    if (selection.region.empty() || a.progress.region == selection.region)
      to_wire(a, out->add_agents());
  }
}

void render(const std::set<std::string>& regions, const Conditions& conditions, int64_t now_unix_ms,
            v1::StatusResponse* out) {
  for (const auto& region : regions) {
    const Condition c = conditions.of_region(region, now_unix_ms);
    if (c.word.empty()) continue;
    auto* to = out->add_regions();
    to->set_region(region);
    to->set_condition(c.word);
    to->set_reason(c.reason);
  }
}

}  // namespace davit::desired
