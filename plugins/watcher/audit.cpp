#include "audit.hpp"

#include <algorithm>

namespace davit::watcher {
namespace {

constexpr std::chrono::milliseconds first_retry{1'000};

}  // namespace

Audit::Record* Audit::find(const std::string& id) {
  const auto found = records_.find(id);
  return found == records_.end() ? nullptr : &found->second;
}

void Audit::listing(Time now) {
  ++listing_;
  began_ = now;
}

bool Audit::wants_listing(Time now) const {
  return timing_.relist.count() > 0 && now - began_ >= timing_.relist;
}

void Audit::lives(const Named& named, Version version) {
  records_[named.id] = {{named, version},
                        listing_,
                        std::nullopt,
                        std::nullopt,
                        Backoff({first_retry, std::max(first_retry, timing_.confirm)})};
}

void Audit::goes(const Named& named) {
  std::erase_if(records_, [&](const auto& entry) {
    const Named& n = entry.second.known.named;
    if (!named.id.empty()) return n.id == named.id;
    return n.name == named.name && (named.ns.empty() || n.ns == named.ns);
  });
}

std::vector<Audit::Known> Audit::to_ask(Time now, size_t limit) {
  std::vector<Known> out;
  if (timing_.relist.count() == 0 || now - began_ < timing_.confirm) return out;
  const auto unnamed =
      static_cast<size_t>(std::count_if(records_.begin(), records_.end(), [&](const auto& entry) {
        return entry.second.listing != listing_;
      }));
  distrusts_ = unnamed > 0 && (unnamed == records_.size() || 2 * unnamed > records_.size());
  if (distrusts_) return out;
  for (auto& [id, record] : records_) {
    if (out.size() == limit) break;
    if (record.listing == listing_ || (record.ask_at && now < *record.ask_at)) continue;
    record.ask_at = now + timing_.confirm;
    out.push_back(record.known);
  }
  return out;
}

bool Audit::absent(const std::string& id, Time now) {
  const auto found = records_.find(id);
  if (found == records_.end() || found->second.listing == listing_) return false;
  Record& record = found->second;
  record.unanswered.reset();
  if (!record.absent) {
    record.absent = now;
    return false;
  }
  if (now - *record.absent < timing_.confirm) return false;
  records_.erase(found);
  return true;
}

void Audit::present(const std::string& id) {
  Record* record = find(id);
  if (record == nullptr) return;
  record->absent.reset();
  record->unanswered.reset();
}

void Audit::unanswered(const std::string& id, Time now, uint64_t random) {
  Record* record = find(id);
  if (record != nullptr) record->ask_at = now + record->unanswered.next(random);
}

}  // namespace davit::watcher
