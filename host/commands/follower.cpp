#include "follower.hpp"

#include <algorithm>

namespace davit::host {

namespace {

std::tuple<std::string, std::string, std::string> key_of(const v1::StoredRecord& r) {
  const auto& d = r.document();
  return {d.kind(), d.region(), d.id()};
}

bool is_deleted(const v1::StoredRecord& r) {
  return r.document().state() == "deleted";
}

v1::StoredRecord absent(const std::string& kind, const std::string& region, const std::string& id) {
  v1::StoredRecord out;
  auto& document = *out.mutable_document();
  document.set_kind(kind);
  document.set_region(region);
  document.set_id(id);
  document.set_state("absent");
  return out;
}

}  // namespace

void Follower::begin() {
  listing_ = true;
  there_.clear();
}

Follower::Records Follower::take(const v1::OperatorWatchResponse& message) {
  if (!listing_) {
    Records out;
    for (const auto& r : message.records()) {
      if (is_news(r)) out.push_back(r);
    }
    return out;
  }
  // A record that changes during the listing occurs twice, the newer version last.
  for (const auto& r : message.records()) there_[key_of(r)] = r;
  if (!message.current()) return {};
  listing_ = false;
  return std::exchange(current_, true) ? again() : first();
}

Follower::Records Follower::first() {
  Records out;
  for (auto& [key, record] : std::exchange(there_, {})) {
    is_news(record);
    if (deleted_ || !is_deleted(record)) out.push_back(std::move(record));
  }
  return out;
}

Follower::Records Follower::again() {
  Records out;
  for (auto it = known_.begin(); it != known_.end();) {
    if (there_.contains(it->first)) {
      ++it;
      continue;
    }
    const auto& [kind, region, id] = it->first;
    if (!it->second.deleted) out.push_back(absent(kind, region, id));
    it = known_.erase(it);
  }
  for (auto& [key, record] : std::exchange(there_, {})) {
    if (is_news(record)) out.push_back(std::move(record));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.version() < b.version(); });
  return out;
}

bool Follower::is_news(const v1::StoredRecord& r) {
  const Mark mark{r.version(), r.committed_at_unix_ms(), is_deleted(r)};
  const auto [at, first] = known_.try_emplace(key_of(r), mark);
  if (first) return true;
  return std::exchange(at->second, mark) != mark;
}

}  // namespace davit::host
