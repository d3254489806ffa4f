#include "watchman.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

// After it a server that was asked to stop, or whose statement_timeout is over, is not waited for.
constexpr std::chrono::nanoseconds grace = 2s;
constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();

}  // namespace

Watchman::Watch::Watch(Watchman& watchman, Session& session, const Op& op)
    : watchman_(watchman),
      session_(session),
      cut_at_(op.deadline_ns() >= (never - grace).count()
                  ? never
                  : std::chrono::nanoseconds(op.deadline_ns()) + grace) {
  {
    const Lock lock(watchman_.mutex_);
    place_ = watchman_.watches_.insert(watchman_.watches_.end(), this);
    watchman_.changed_.notify_all();
  }
  on_cancel_.emplace(op, [this] { watchman_.want(*this); });
}

Watchman::Watch::~Watch() {
  on_cancel_.reset();
  Lock lock(watchman_.mutex_);
  watchman_.stopped_.wait(lock, [this] { return stage_ != Stage::stopping; });
  watchman_.watches_.erase(place_);
  if (stage_ == Stage::stopped) session_.give_up_on();
}

void Watchman::Watch::no_way_back() {
  Lock lock(watchman_.mutex_);
  committing_ = true;
  watchman_.stopped_.wait(lock, [this] { return stage_ != Stage::stopping; });
}

Watchman::Watchman(const Host& host) : host_(host), thread_([this] { run(); }) {}

Watchman::~Watchman() {
  {
    const Lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Watchman::want(Watch& watch) {
  const Lock lock(mutex_);
  if (watch.stage_ == Watch::Stage::idle) watch.stage_ = Watch::Stage::wanted;
  watch.cut_at_ = std::min(watch.cut_at_, host_.now() + grace);
  changed_.notify_all();
}

void Watchman::stop(Lock& lock, Watch& watch) {
  watch.stage_ = Watch::Stage::stopping;
  lock.unlock();
  watch.session_.cancel();
  lock.lock();
  watch.stage_ = Watch::Stage::stopped;
  stopped_.notify_all();
}

// Returns when the next one is due.
std::chrono::nanoseconds Watchman::cut_what_is_late() {
  auto next = never;
  const auto now = host_.now();
  for (Watch* watch : watches_) {
    if (watch->cut_at_ > now) {
      next = std::min(next, watch->cut_at_);
      continue;
    }
    watch->session_.cut();
    watch->cut_at_ = never;
  }
  return next;
}

void Watchman::run() {
  Lock lock(mutex_);
  while (!over_) {
    const auto wanted = std::find_if(watches_.begin(), watches_.end(), [](const Watch* watch) {
      return watch->stage_ == Watch::Stage::wanted && !watch->committing_;
    });
    if (wanted != watches_.end()) {
      stop(lock, **wanted);
      continue;
    }
    const auto next = cut_what_is_late();
    if (next == never) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, next - host_.now());
    }
  }
}

}  // namespace davit::storage_postgres
