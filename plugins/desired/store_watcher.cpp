#include "store_watcher.hpp"

#include <davit/backoff.hpp>

namespace davit::desired {

namespace {
constexpr std::chrono::milliseconds look_interval{1'000};     // without hints
constexpr std::chrono::milliseconds safety_interval{10'000};  // with hints, which may get lost
constexpr std::chrono::milliseconds change_delay{100};  // ten looks a second during steady commits
constexpr std::chrono::milliseconds report_delay{
    1'000};  // in a large fleet somebody always reports
}  // namespace

StoreWatcher::StoreWatcher(Host host, storage::Client storage, Outstanding& outstanding)
    : host_(host),
      storage_(std::move(storage)),
      outstanding_(outstanding),
      strand_(host.strand()),
      timer_(strand_) {}

void StoreWatcher::start() {
  auto watch = storage_.watch(
      [](void* self, uint32_t what) { static_cast<StoreWatcher*>(self)->hint(what); }, this);
  if (!watch.ok()) {
    host_.warn("the storage gives no hints", {{"reason", watch.error().message}});
    return;
  }
  watch_ = std::move(*watch);
  hinted_ = static_cast<bool>(watch_);
}

bool StoreWatcher::subscribe(const std::shared_ptr<Subscriber>& subscriber) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    subscribers_.insert(subscriber);
  }
  strand_.post([this, ticket = outstanding_.begin()] {
    if (!timer_.waiting()) schedule();
  });
  return true;
}

void StoreWatcher::unsubscribe(const std::shared_ptr<Subscriber>& subscriber) {
  std::lock_guard lock(mutex_);
  subscribers_.erase(subscriber);
}

void StoreWatcher::hint(uint32_t what) {
  const auto delay = (what & DAVIT_HINT_RECORDS) != 0 ? change_delay : report_delay;
  strand_.post([this, delay, ticket = outstanding_.begin()] {
    if (!idle()) look_within(delay);
  });
}

void StoreWatcher::look_within(std::chrono::nanoseconds delay) {
  const auto due = host_.now() + delay;
  if (timer_.waiting() && due_ <= due) return;
  due_ = due;
  timer_.after(delay, [this] {
    look();
    schedule();
  });
}

bool StoreWatcher::idle() {
  const std::lock_guard lock(mutex_);
  return subscribers_.empty() || stopping_;
}

void StoreWatcher::stop() {
  watch_.end();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  tell(Event::stopping);
  strand_.post([this, ticket = outstanding_.begin()] { timer_.cancel(); });
}

void StoreWatcher::schedule() {
  if (!idle()) look_within(jittered(hinted_ ? safety_interval : look_interval, host_.random()));
}

void StoreWatcher::look() {
  bool agents = false;
  {
    std::lock_guard lock(mutex_);
    if (subscribers_.empty() || stopping_) return;
    for (const auto& s : subscribers_) agents |= s->agents;
  }
  if (std::exchange(looking_, true)) {
    again_ = true;
    return;
  }
  storage_.run(
      strand_, [agents](const storage::Client& storage) { return look_at(storage, agents); },
      [this, ticket = outstanding_.begin()](Result<Observation> observed) {
        looked(std::move(observed));
      });
}

Result<StoreWatcher::Observation> StoreWatcher::look_at(const storage::Client& storage,
                                                        bool agents) {
  Observation out;
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

void StoreWatcher::looked(Result<Observation> observed) {
  looking_ = false;
  // After an error every watch reads the store itself and reports what it finds.
  const bool moved = !observed.ok() || observed->head.head != last_.head.head ||
                     observed->head.status_head != last_.head.status_head ||
                     observed->agents != last_.agents;
  if (observed.ok()) last_ = std::move(*observed);
  if (moved) tell(Event::changed);
  if (std::exchange(again_, false)) look();
}

void StoreWatcher::tell(Event event) {
  std::lock_guard lock(mutex_);
  for (const auto& subscriber : subscribers_) {
    subscriber->strand.post([subscriber, event] {
      if (subscriber->notify) subscriber->notify(event);
    });
  }
}

}  // namespace davit::desired
