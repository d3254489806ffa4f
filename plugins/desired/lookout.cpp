#include "lookout.hpp"

#include <davit/backoff.hpp>

namespace davit::desired {

namespace {
constexpr std::chrono::milliseconds look_interval{1000};
constexpr std::chrono::milliseconds hint_delay{100};  // ten polls a second during steady commits
}  // namespace

Lookout::Lookout(Host host, storage::Client storage, Outstanding& outstanding)
    : host_(host),
      storage_(std::move(storage)),
      outstanding_(outstanding),
      strand_(host.strand()),
      timer_(strand_),
      soon_(strand_) {}

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

void Lookout::hint() {
  strand_.post([this, ticket = outstanding_.begin()] {
    if (!idle() && !soon_.waiting()) soon_.after(hint_delay, [this] { look(); });
  });
}

bool Lookout::idle() {
  const std::lock_guard lock(mutex_);
  return watchers_.empty() || stopping_;
}

void Lookout::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  tell(News::stopping);
  strand_.post([this, ticket = outstanding_.begin()] {
    timer_.cancel();
    soon_.cancel();
  });
}

void Lookout::schedule() {
  if (idle()) return;
  timer_.after(jittered(look_interval, host_.random()), [this] {
    look();
    schedule();
  });
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
  auto read = storage.agents([&](const davit_progress& p) {
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
