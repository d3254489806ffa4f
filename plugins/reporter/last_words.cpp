#include "last_words.hpp"

#include <algorithm>
#include <unordered_set>

#include <davit/status_size.hpp>

#include "buffer.hpp"

namespace davit::reporter {

void LastWords::ended(bool taken) {
  for (Status& s : under_way_) {
    if (taken) keep(std::move(s));
  }
  under_way_.clear();
}

void LastWords::keep(Status&& status) {
  std::string key = Buffer::key_of(status);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    const Status& before = known->second->status;
    if (std::pair(before.epoch, before.sequence) > std::pair(status.epoch, status.sequence)) return;
    words_of(before).erase(known->second);
    by_key_.erase(known);
  }
  Words& words = words_of(status);
  if (words.size() >= most_[status.gone ? 1 : 0]) {
    by_key_.erase(Buffer::key_of(words.front().status));
    words.pop_front();
  }
  by_key_[std::move(key)] = words.insert(words.end(), {std::move(status), round_});
}

void LastWords::forget(const Key& key) {
  Status of;
  of.key = key;
  const auto known = by_key_.find(Buffer::key_of(of));
  if (known == by_key_.end()) return;
  words_of(known->second->status).erase(known->second);
  by_key_.erase(known);
}

std::vector<Status> LastWords::take_unconfirmed() {
  std::vector<Status> out;
  for (const Words& words : words_) {
    auto first = words.end();
    while (first != words.begin() && std::prev(first)->round > confirmed_) --first;
    for (; first != words.end(); ++first) out.push_back(first->status);
  }
  // Last: of two statuses of one key, Buffer::put_back keeps the later one.
  out.insert(out.end(), under_way_.begin(), under_way_.end());
  confirmed_ = round_++;
  return out;
}

bool LastWords::has_below(Epoch epoch) const {
  return std::any_of(words_.begin(), words_.end(), [epoch](const Words& words) {
    return !words.empty() && words.front().status.epoch < epoch;
  });
}

void LastWords::add_below(Epoch epoch, size_t most, size_t bytes_max,
                          std::vector<Status>& batch) const {
  size_t bytes = 0;
  std::unordered_set<std::string> keys;
  for (const Status& s : batch) {
    bytes += bytes_of(s);
    keys.insert(Buffer::key_of(s));
  }
  for (const Words& words : words_) {
    for (const Word& word : words) {
      if (word.status.epoch >= epoch) break;
      if (keys.contains(Buffer::key_of(word.status))) continue;
      bytes += bytes_of(word.status);
      if (batch.size() >= most || (bytes > bytes_max && !batch.empty())) return;
      batch.push_back(word.status);
    }
  }
}

}  // namespace davit::reporter
