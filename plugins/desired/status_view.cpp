#include "status_view.hpp"

#include <davit/v1/operator.pb.h>

namespace davit::desired {

void StatusView::reset() {
  records_.clear();
  statuses_.clear();
}

bool StatusView::record(const davit_record& r) {
  Key key = from_abi(r.key);
  if (!selection_.takes(key)) return false;
  records_[std::move(key)] = wanted(r);
  return conditions_.only_ctrl_v1(text(r.key.region));
}

void StatusView::unsent(const Key& key, Condition why) {
  if (const auto record = records_.find(key); record != records_.end())
    record->second.unsent = std::move(why);
}

void StatusView::status(Status s) {
  if (!selection_.takes(s.key)) return;
  Key key = s.key;
  statuses_[std::move(key)] = std::move(s);
}

void StatusView::agents(std::vector<Agent> agents, Delayed delayed) {
  conditions_ = Conditions(std::move(agents), std::move(delayed));
}

std::set<std::string> StatusView::judged_regions() const {
  auto out = conditions_.only_ctrl_v1_regions();
  std::erase_if(out, [this](const std::string& region) {
    return !selection_.region.empty() && region != selection_.region;
  });
  return out;
}

std::set<std::string> StatusView::delayed_regions() const {
  std::set<std::string> out;
  for (const auto& [key, record] : records_) {
    if (record.unsent.word == DAVIT_ISSUE_DELAYED) out.insert(key.region);
  }
  return out;
}

StatusView::Names StatusView::live_names() const {
  Names out;
  for (const auto& [key, desired] : records_) {
    if (desired.live) out.insert({key.kind, key.region, desired.ns, desired.name});
  }
  return out;
}

bool StatusView::taken_over(const Key& key, const Wanted& dead, const Names& live) {
  return dead.name.empty() || live.contains({key.kind, key.region, dead.ns, dead.name});
}

void StatusView::render(Cursor head, int64_t now_unix_ms, v1::StatusResponse* out) const {
  const Names live = live_names();
  std::set<std::string> regions;
  out->mutable_head()->set_incarnation(head.incarnation.value());
  out->mutable_head()->set_version(head.version.value());
  for (const auto& [key, record] : records_) {
    auto it = statuses_.find(key);
    const Status* observed = it == statuses_.end() ? nullptr : &it->second;
    // When another record has taken the name, the objects belong to that record.
    if (!record.live && taken_over(key, record, live)) observed = nullptr;
    if (!is_shown(record, observed)) continue;
    regions.insert(key.region);
    desired::render(key, record, observed, conditions_, out->add_objects());
  }
  desired::render(selection_, conditions_, out);
  desired::render(regions, conditions_, now_unix_ms, out);
}

}  // namespace davit::desired
