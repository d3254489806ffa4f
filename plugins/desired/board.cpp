#include "board.hpp"

#include <davit/v1/operator.pb.h>

#include "succession.hpp"

namespace davit::desired {

namespace {

void to_wire(const Status& s, v1::Status* out) {
  out->set_kind(s.key.kind);
  out->set_id(s.key.id);
  out->set_region(s.key.region);
  out->set_observed_version(s.observed_version);
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
  out->set_epoch(s.epoch);
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
    kind->mutable_applied()->set_incarnation(k.applied.incarnation);
    kind->mutable_applied()->set_version(k.applied.version);
  }
  for (const auto& i : p.issues) {
    auto* issue = out->add_issues();
    issue->set_kind(i.kind);
    issue->set_id(i.id);
    issue->set_namespace_(i.ns);
    issue->set_name(i.name);
    issue->set_version(i.version);
    issue->set_condition(i.condition);
    issue->set_reason(i.reason);
  }
}

}  // namespace

void Board::reset() {
  records_.clear();
  statuses_.clear();
}

void Board::record(const davit_record& r) {
  Key key = from_abi(r.key);
  if (!selection_.takes(key)) return;
  records_[std::move(key)] = {text(r.ns), text(r.name), text(r.state), r.version,
                              (r.flags & DAVIT_RECORD_LIVE) != 0};
}

void Board::status(Status s) {
  if (!selection_.takes(s.key)) return;
  Key key = s.key;
  statuses_[std::move(key)] = std::move(s);
}

// What an agent said of kinds that another has taken over is no longer so.
void Board::agents(std::vector<Agent> agents) {
  agents_ = std::move(agents);
  Succession succession;
  for (const auto& a : agents_) succession.add(a.progress);
  for (auto& a : agents_) {
    a.taken_over = succession.taken_over(a.progress);
    std::erase_if(a.progress.issues, [&](const Issue& i) {
      return i.kind.empty() ? a.taken_over : succession.taken_over(a.progress, i.kind);
    });
  }
}

Board::Condition Board::condition(const Key& key, const Status* observed) const {
  for (const auto& agent : agents_) {
    if (agent.progress.region != key.region) continue;
    for (const auto& i : agent.progress.issues) {
      if (i.kind == key.kind && i.id == key.id) return {i.condition, i.reason};
    }
  }
  if (observed != nullptr && !observed->parked.empty())
    return {DAVIT_ISSUE_PARKED, observed->parked};
  return {};
}

Board::Names Board::live_names() const {
  Names out;
  for (const auto& [key, desired] : records_) {
    if (desired.live) out.insert({key.kind, key.region, desired.ns, desired.name});
  }
  return out;
}

bool Board::taken_over(const Key& key, const Desired& dead, const Names& live) {
  return dead.name.empty() || live.contains({key.kind, key.region, dead.ns, dead.name});
}

void Board::render(Cursor head, v1::StatusResponse* out) const {
  const Names live = live_names();
  out->mutable_head()->set_incarnation(head.incarnation);
  out->mutable_head()->set_version(head.version);
  for (const auto& [key, desired] : records_) {
    auto it = statuses_.find(key);
    const Status* observed = it == statuses_.end() ? nullptr : &it->second;
    // The objects of one whose name another record has taken over are that one's.
    if (!desired.live && (observed == nullptr || observed->gone || taken_over(key, desired, live)))
      continue;
    auto* o = out->add_objects();
    o->set_kind(key.kind);
    o->set_region(key.region);
    o->set_id(key.id);
    o->set_namespace_(desired.ns);
    o->set_name(desired.name);
    o->set_state(desired.state);
    o->set_version(desired.version);
    o->set_live(desired.live);
    if (observed != nullptr) to_wire(*observed, o->mutable_observed());
    const Condition c = condition(key, observed);
    o->set_condition(c.word);
    o->set_reason(c.reason);
  }
  for (const auto& a : agents_) {
    if (selection_.region.empty() || a.progress.region == selection_.region)
      to_wire(a, out->add_agents());
  }
}

}  // namespace davit::desired
