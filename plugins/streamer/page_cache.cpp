#include "page_cache.hpp"

#include <algorithm>
#include <tuple>

namespace davit::streamer {

namespace {
uint64_t name_hash(const Change& change) {
  return std::hash<std::string>{}(change.ns + '/' + change.name);
}

// How long snapshots of a topic share their begin.
constexpr std::chrono::seconds begin_shared_for{10};
// How many topics' last changes are remembered. At the limit all are forgotten, and the newest
// version stands for each of them: their pages are read once more than necessary.
constexpr size_t topics_max = 32'768;

auto tied(const PageCache::Key& k) {
  return std::tie(k.topic, k.encoding, k.cursor.incarnation, k.cursor.version, k.dead_after,
                  k.counted);
}
}  // namespace

size_t PageRead::bytes() const {
  size_t out = sizeof *this + (names ? names->bytes() : 0);
  out += dead_names.size() * sizeof dead_names[0];
  for (const auto& m : messages) out += m.size();
  return out;
}

void PageRead::add_dead(const Change& change) {
  dead_names.push_back(name_hash(change));
}

bool PageRead::is_changed_by(const Change& change) const {
  if (!page.more || !names || names->has(change.id)) return true;
  return std::find(dead_names.begin(), dead_names.end(), name_hash(change)) != dead_names.end();
}

bool PageCache::Key::operator<(const Key& o) const {
  return tied(*this) < tied(o);
}

bool PageCache::want(const Key& key, Taker taker) {
  std::shared_ptr<const PageRead> found;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = pages_.find(key); it != pages_.end()) {
      found = it->second;
    } else {
      const Version change = last_change(key.topic);
      auto [reading, first] = reading_.try_emplace(key, Reading{change, {}});
      reading->second.takers.emplace_back(change, std::move(taker));
      return first;
    }
  }
  taker(found);
  return false;
}

bool PageCache::done(const Key& key, const PageResult& page) {
  std::vector<Taker> takers;
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    Reading& reading = reading_[key];
    std::erase_if(reading.takers, [&](auto& waits) {
      if (page.ok() && waits.first > reading.began) return false;
      takers.push_back(std::move(waits.second));
      return true;
    });
    reading.began = last_change(key.topic);
    again = !reading.takers.empty();
    if (!again) reading_.erase(key);
    if (!page.ok()) {
      begins_.erase(key.topic);
    } else if (!(*page)->delayed && (*page)->page.head.head.version >= last_change(key.topic) &&
               pages_.emplace(key, *page).second) {
      order_.push_back(key);
      bytes_ += cost(key, **page);
      evict();
    }
  }
  for (const auto& taker : takers) taker(page);
  return again;
}

Version PageCache::last_change(const Topic& topic) const {
  const auto it = changed_.find(topic);
  return it == changed_.end() ? forgotten_ : it->second;
}

// The key counts twice: it is in pages_ and in order_.
size_t PageCache::cost(const Key& key, const PageRead& page) {
  return page.bytes() + 2 * (sizeof key + key.topic.kind.size() + key.topic.region.size());
}

void PageCache::evict() {
  while (bytes_ > bytes_max_ && !order_.empty()) take_out(pages_.find(order_.front()));
}

void PageCache::take_out(std::map<Key, std::shared_ptr<const PageRead>>::iterator page) {
  const auto same = [&](const Key& k) { return !(k < page->first) && !(page->first < k); };
  order_.erase(std::find_if(order_.begin(), order_.end(), same));
  bytes_ -= cost(page->first, *page->second);
  pages_.erase(page);
}

void PageCache::changed(const Topic& topic, const Change& change) {
  const std::lock_guard lock(mutex_);
  if (changed_.size() >= topics_max && !changed_.contains(topic)) {
    changed_.clear();
    forgotten_ = change.version;
  }
  changed_[topic] = change.version;
  for (auto it = pages_.begin(); it != pages_.end();) {
    const auto page = it++;
    if (page->first.topic == topic && page->second->is_changed_by(change)) take_out(page);
  }
}

std::shared_ptr<const PageNames> PageCache::same(const Key& key, PageNames names) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const PageNames>& known = names_[key];
  if (auto kept = known.lock(); kept && *kept == names) return kept;
  auto made = std::make_shared<const PageNames>(std::move(names));
  known = made;
  forget_names();
  return made;
}

// The limit doubles with what is left, so the cost of a sweep is spread over the additions.
void PageCache::forget_names() {
  if (names_.size() < names_max_) return;
  std::erase_if(names_, [](const auto& entry) { return entry.second.expired(); });
  names_max_ = std::max<size_t>(64, 2 * names_.size());
}

std::optional<Start> PageCache::begin(const Topic& topic, std::chrono::nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  const auto it = begins_.find(topic);
  if (it == begins_.end() || now - it->second.at > begin_shared_for) return std::nullopt;
  return it->second.start;
}

void PageCache::begun(const Topic& topic, const Start& start, std::chrono::nanoseconds now) {
  const std::lock_guard lock(mutex_);
  begins_[topic] = {start, now};
  if (begins_.size() < begins_max_) return;
  std::erase_if(begins_,
                [now](const auto& entry) { return now - entry.second.at > begin_shared_for; });
  begins_max_ = std::max<size_t>(64, 2 * begins_.size());
}

void PageCache::forget(const Topic& topic) {
  const std::lock_guard lock(mutex_);
  begins_.erase(topic);
}

size_t PageCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

size_t PageCache::begins() const {
  const std::lock_guard lock(mutex_);
  return begins_.size();
}

}  // namespace davit::streamer
