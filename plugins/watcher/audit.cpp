#include "audit.hpp"

#include <algorithm>

namespace davit::watcher {

void Audit::listing(Time now) {
  ++listing_;
  began_ = now;
}

bool Audit::wants_listing(Time now) const {
  return timing_.relist.count() > 0 && now - began_ >= timing_.relist;
}

void Audit::lives(const Named& named, uint64_t version) {
  records_[named.id] = {{named, version}, listing_, std::nullopt, std::nullopt};
}

void Audit::goes(const Named& named) {
  std::erase_if(records_, [&](const auto& entry) {
    const Named& n = entry.second.known.named;
    if (!named.id.empty()) return n.id == named.id;
    return n.name == named.name && (named.ns.empty() || n.ns == named.ns);
  });
}

std::vector<Audit::Known> Audit::to_ask(Time now) {
  std::vector<Known> out;
  if (timing_.relist.count() == 0 || now - began_ < timing_.confirm) return out;
  const auto unnamed =
      static_cast<size_t>(std::count_if(records_.begin(), records_.end(), [&](const auto& entry) {
        return entry.second.listing != listing_;
      }));
  distrusts_ = unnamed > 0 && (unnamed == records_.size() || 2 * unnamed > records_.size());
  if (distrusts_) return out;
  for (auto& [id, record] : records_) {
    if (record.listing == listing_) continue;
    if (record.asked && now - *record.asked < timing_.confirm) continue;
    record.asked = now;
    out.push_back(record.known);
  }
  return out;
}

bool Audit::absent(const std::string& id, Time now) {
  const auto found = records_.find(id);
  if (found == records_.end() || found->second.listing == listing_) return false;
  Record& record = found->second;
  if (!record.absent) {
    record.absent = now;
    return false;
  }
  if (now - *record.absent < timing_.confirm) return false;
  records_.erase(found);
  return true;
}

void Audit::present(const std::string& id) {
  const auto found = records_.find(id);
  if (found != records_.end()) found->second.absent.reset();
}

}  // namespace davit::watcher
