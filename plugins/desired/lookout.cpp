#include "lookout.hpp"

#include <davit/backoff.hpp>

namespace davit::desired {

namespace {
constexpr std::chrono::milliseconds look_interval{1'000};     // without hints
constexpr std::chrono::milliseconds safety_interval{10'000};  // with hints, which may get lost
constexpr std::chrono::milliseconds change_delay{100};  // ten looks a second during steady commits
constexpr std::chrono::milliseconds report_delay{
    1'000};  // in a large fleet somebody always reports
}  // namespace

Lookout::Lookout(Host host, storage::Client storage, Outstanding& outstanding)
    : host_(host),
      storage_(std::move(storage)),
      outstanding_(outstanding),
      strand_(host.strand()),
      timer_(strand_) {}

void Lookout::start() {
  auto watch = storage_.watch(
      [](void* self, uint32_t what) { static_cast<Lookout*>(self)->hint(what); }, this);
  if (!watch.ok()) {
    host_.warn("the storage gives no hints", {{"reason", watch.error().message}});
    return;
  }
  watch_ = std::move(*watch);
  hinted_ = static_cast<bool>(watch_);
}

bool Lookout::join(const std::shared_ptr<Watcher>& watcher) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    watchers_.insert(watcher);
  }
  strand_.post([this, ticket = outstanding_.begin()] {
    if (!timer_.waiting()) schedule();
  });
  return true;
}

void Lookout::leave(const std::shared_ptr<Watcher>& watcher) {
  std::lock_guard lock(mutex_);
  watchers_.erase(watcher);
}

void Lookout::hint(uint32_t what) {
  const auto delay = (what & DAVIT_HINT_RECORDS) != 0 ? change_delay : report_delay;
  strand_.post([this, delay, ticket = outstanding_.begin()] {
    if (!idle()) look_within(delay);
  });
}

void Lookout::look_within(std::chrono::nanoseconds delay) {
  const auto due = host_.now() + delay;
  if (timer_.waiting() && due_ <= due) return;
  due_ = due;
  timer_.after(delay, [this] {
    look();
    schedule();
  });
}

bool Lookout::idle() {
  const std::lock_guard lock(mutex_);
  return watchers_.empty() || stopping_;
}

void Lookout::stop() {
  watch_.end();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  tell(News::stopping);
  strand_.post([this, ticket = outstanding_.begin()] { timer_.cancel(); });
}

void Lookout::schedule() {
  if (!idle())
    look_within(jittered(hinted_ ? safety_interval : look_interval, host_.random()));
}

void Lookout::look() {
  bool agents = false;
  {
    std::lock_guard lock(mutex_);
    if (watchers_.empty() || stopping_) return;
    for (const auto& w : watchers_) agents |= w->agents;
  }
  if (std::exchange(looking_, true)) {
    again_ = true;
    return;
  }
  storage_.run(
      strand_, [agents](const storage::Client& storage) { return look_at(storage, agents); },
      [this, ticket = outstanding_.begin()](Result<Sight> sight) { looked(std::move(sight)); });
}

Result<Lookout::Sight> Lookout::look_at(const storage::Client& storage, bool agents) {
  Sight out;
  auto head = storage.head();
  if (!head.ok()) return head.error();
  out.head = *head;
  if (!agents) return out;
  auto read = storage.agents({}, [&](const davit_progress& p) {
    out.agents.push_back(p.seen_at_unix_ms);
    return true;
  });
  if (!read.ok()) return read.error();
  return out;
}

void Lookout::looked(Result<Sight> sight) {
  looking_ = false;
  // After an error every watch reads the store itself and reports what it finds.
  const bool moved = !sight.ok() || sight->head.head != last_.head.head ||
                     sight->head.status_head != last_.head.status_head ||
                     sight->agents != last_.agents;
  if (sight.ok()) last_ = std::move(*sight);
  if (moved) tell(News::moved);
  if (std::exchange(again_, false)) look();
}

void Lookout::tell(News news) {
  std::lock_guard lock(mutex_);
  for (const auto& watcher : watchers_) {
    watcher->strand.post([watcher, news] {
      if (watcher->hear) watcher->hear(news);
    });
  }
}

}  // namespace davit::desired
