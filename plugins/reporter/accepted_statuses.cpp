#include "accepted_statuses.hpp"

#include <algorithm>
#include <unordered_set>

#include <davit/status_size.hpp>

#include "buffer.hpp"

namespace davit::reporter {

void AcceptedStatuses::ended(bool taken) {
  for (Status& s : under_way_) {
    if (taken) keep(std::move(s));
  }
  under_way_.clear();
}

void AcceptedStatuses::keep(Status&& status) {
  std::string key = Buffer::key_of(status);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    const Status& before = known->second->status;
    if (std::pair(before.epoch, before.sequence) > std::pair(status.epoch, status.sequence)) return;
    list_of(before).erase(known->second);
    by_key_.erase(known);
  }
  List& list = list_of(status);
  if (list.size() >= most_[status.gone ? 1 : 0]) {
    by_key_.erase(Buffer::key_of(list.front().status));
    list.pop_front();
  }
  by_key_[std::move(key)] = list.insert(list.end(), {std::move(status), round_});
}

void AcceptedStatuses::forget(const Key& key) {
  Status of;
  of.key = key;
  const auto known = by_key_.find(Buffer::key_of(of));
  if (known == by_key_.end()) return;
  list_of(known->second->status).erase(known->second);
  by_key_.erase(known);
}

std::vector<Status> AcceptedStatuses::take_unconfirmed() {
  std::vector<Status> out;
  for (const List& list : lists_) {
    auto first = list.end();
    while (first != list.begin() && std::prev(first)->round > confirmed_) --first;
    for (; first != list.end(); ++first) out.push_back(first->status);
  }
  // Last: of two statuses of one key, Buffer::put_back keeps the later one.
  out.insert(out.end(), under_way_.begin(), under_way_.end());
  confirmed_ = round_++;
  return out;
}

bool AcceptedStatuses::has_below(Epoch epoch) const {
  return std::any_of(lists_.begin(), lists_.end(), [epoch](const List& list) {
    return !list.empty() && list.front().status.epoch < epoch;
  });
}

void AcceptedStatuses::add_below(Epoch epoch, size_t most, size_t bytes_max,
                                 std::vector<Status>& batch) const {
  size_t bytes = 0;
  std::unordered_set<std::string> keys;
  for (const Status& s : batch) {
    bytes += bytes_of(s);
    keys.insert(Buffer::key_of(s));
  }
  for (const List& list : lists_) {
    for (const Sent& sent : list) {
      if (sent.status.epoch >= epoch) break;
      if (keys.contains(Buffer::key_of(sent.status))) continue;
      bytes += bytes_of(sent.status);
      if (batch.size() >= most || (bytes > bytes_max && !batch.empty())) return;
      batch.push_back(sent.status);
    }
  }
}

}  // namespace davit::reporter
