#include "runtime.hpp"

#include <stdexcept>

namespace davit::testing {
namespace {

constexpr int worker_threads = 2;                   // enough to show a race between strands
constexpr int64_t manual_start_ns = 1'000'000'000;  // not 0, so that a missing subtraction shows
constexpr int64_t manual_unix_ns = 1'700'000'000'000'000'000;
constexpr uint64_t most_steps = 1'000'000;  // at one instant; more tasks are an endless loop
constexpr int shut_down_rounds = 1'000;     // the limit for a task that posts itself for ever

thread_local bool strand_task = false;

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What seed_all() was given, and how many seeds were made from it since.
struct Seeds {
  std::mutex mutex;
  bool given = false;
  uint64_t seed = 0, made = 0;
};
Seeds& seeds() {
  static Seeds all;
  return all;
}

uint64_t next_seed() {
  Seeds& all = seeds();
  const std::lock_guard lock(all.mutex);
  if (!all.given) return 1;
  // SplitMix64: seeds that are neighbours give numbers that are not.
  uint64_t x = all.seed + ++all.made * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

// All members are guarded by the runtime's lock.
struct Runtime::Strand {
  Runtime* runtime;
  uint32_t references = 1;
  bool active = false;  // in ready_, or running
  std::deque<std::function<void()>> tasks;
};

bool Runtime::on_a_strand() {
  return strand_task;
}

Runtime::Runtime(bool manual) : manual_(manual), random_(next_seed()), now_(manual_start_ns) {
  for (int i = 0; !manual && i < worker_threads; ++i) threads_.emplace_back([this] { work(); });
}

Runtime::~Runtime() {
  shut_down();
}

Runtime::Strand* Runtime::strand() {
  return new Strand{this, 1, false, {}};
}

void Runtime::retain(Strand* s) {
  const Lock lock(s->runtime->mutex_);
  ++s->references;
}

void Runtime::release(Strand* s) {
  Runtime* runtime = s->runtime;
  const Lock lock(runtime->mutex_);
  runtime->unreference(s);
}

void Runtime::unreference(Strand* s) {
  if (--s->references == 0) delete s;
}

void Runtime::enqueue(Strand* s, std::function<void()> task) {
  ++s->references;  // until the task has run
  s->tasks.push_back(std::move(task));
  if (s->active) return;
  s->active = true;
  ready_.push_back(s);
  wake_.notify_one();
}

void Runtime::post(Strand* s, davit_task task, void* arg) {
  const Lock lock(s->runtime->mutex_);
  s->runtime->enqueue(s, [task, arg] { task(arg); });
}

uint64_t Runtime::timer(Strand* s, int64_t delay_ns, davit_timer_task task, void* arg) {
  Runtime& r = *s->runtime;
  const int64_t due = r.monotonic_ns() + std::max<int64_t>(delay_ns, 0);
  const Lock lock(r.mutex_);
  const uint64_t id = ++r.last_timer_;
  ++s->references;
  r.timers_.emplace(due, Timer{s, id, task, arg});
  r.wake_.notify_one();
  return id;
}

void Runtime::timer_cancel(Strand* s, uint64_t timer) {
  Runtime& r = *s->runtime;
  const Lock lock(r.mutex_);
  for (auto at = r.timers_.begin(); at != r.timers_.end(); ++at) {
    if (at->second.id != timer || at->second.strand != s) continue;
    const Timer t = at->second;
    r.timers_.erase(at);
    r.fire(t, 0);
    return;
  }
}

void Runtime::fire(Timer t, int32_t fired) {
  enqueue(t.strand, [t, fired] { t.task(t.arg, fired); });
  unreference(t.strand);
}

bool Runtime::fire_due(int64_t now) {
  if (timers_.empty() || timers_.begin()->first > now) return false;
  const Timer t = timers_.begin()->second;
  timers_.erase(timers_.begin());
  fire(t, 1);
  return true;
}

void Runtime::run_one(Lock& lock) {
  Strand* s = ready_.front();
  ready_.pop_front();
  auto task = std::move(s->tasks.front());
  s->tasks.pop_front();
  ++running_;
  lock.unlock();
  strand_task = true;
  task();
  task = nullptr;
  strand_task = false;
  lock.lock();
  --running_;
  s->active = !s->tasks.empty();
  if (s->active) {
    ready_.push_back(s);
    wake_.notify_one();
  }
  unreference(s);
  quiet_.notify_all();
}

void Runtime::work() {
  Lock lock(mutex_);
  while (true) {
    while (fire_due(steady_ns())) {
    }
    if (!ready_.empty()) {
      run_one(lock);
    } else if (stopping_) {
      return;
    } else if (timers_.empty()) {
      wake_.wait(lock);
    } else {
      const std::chrono::nanoseconds wait(timers_.begin()->first - steady_ns());
      wake_.wait_for(lock, wait);
    }
  }
}

void Runtime::blocking(const std::string& name, uint32_t limit, std::function<void()> task) {
  const Lock lock(mutex_);
  Pool& pool = pools_[name];
  pool.limit = std::max(limit, 1u);
  pool.waiting.push_back(std::move(task));
  if (manual_) return;
  if (pool.idle >= pool.waiting.size() || pool.threads == pool.limit) {
    pool.wake.notify_one();
    return;
  }
  ++pool.threads;
  threads_.emplace_back([this, &pool] { work(pool); });
}

void Runtime::work(Pool& pool) {
  Lock lock(mutex_);
  while (true) {
    if (!pool.waiting.empty()) {
      auto task = std::move(pool.waiting.front());
      pool.waiting.pop_front();
      ++running_;
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      --running_;
      quiet_.notify_all();
    } else if (stopping_) {
      return;
    } else {
      ++pool.idle;
      pool.wake.wait(lock);
      --pool.idle;
    }
  }
}

int64_t Runtime::monotonic_ns() const {
  if (!manual_) return steady_ns();
  const Lock lock(mutex_);
  return now_;
}

int64_t Runtime::unix_ns() const {
  if (manual_) return manual_unix_ns + monotonic_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t Runtime::random() {
  const Lock lock(mutex_);
  return random_();
}

void Runtime::seed_all(uint64_t seed) {
  Seeds& all = seeds();
  const std::lock_guard lock(all.mutex);
  all.given = true;
  all.seed = seed, all.made = 0;
}

void Runtime::seed(uint64_t seed) {
  const Lock lock(mutex_);
  random_.seed(seed);
}

void Runtime::count_step() {
  if (++steps_ <= most_steps) return;
  const double seconds = static_cast<double>(now_) / 1e9;
  throw std::runtime_error("manual time stands still at " + std::to_string(seconds) +
                           " s: " + std::to_string(most_steps) + " tasks ran, and there are more");
}

void Runtime::run() {
  steps_ = 0;
  run_ready();
}

void Runtime::run_ready() {
  Lock lock(mutex_);
  while (manual_) {
    count_step();
    if (!ready_.empty()) {
      run_one(lock);
      continue;
    }
    std::function<void()> task;
    for (auto& [name, pool] : pools_) {
      if (pool.waiting.empty()) continue;
      task = std::move(pool.waiting.front());
      pool.waiting.pop_front();
      break;
    }
    if (!task) return;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

void Runtime::advance(int64_t by_ns) {
  steps_ = 0;
  run_timers(by_ns);
}

void Runtime::run_timers(int64_t by_ns) {
  run_ready();
  Lock lock(mutex_);
  const int64_t until = now_ + by_ns;
  while (!timers_.empty() && timers_.begin()->first <= until) {
    move_to(timers_.begin()->first);
    fire_due(now_);
    lock.unlock();
    run_ready();
    lock.lock();
  }
  move_to(until);
}

void Runtime::move_to(int64_t now) {
  if (now <= now_) return;
  now_ = now;
  steps_ = 0;
}

bool Runtime::run_until(const std::function<bool()>& done, int64_t limit_ns) {
  const int64_t until = monotonic_ns() + limit_ns;
  steps_ = 0;
  while (true) {
    run_ready();
    if (done()) return true;
    const int64_t now = monotonic_ns();
    if (now >= until) return false;
    if (manual_) {
      int64_t next = until;
      {
        const Lock lock(mutex_);
        if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
      }
      run_timers(std::max<int64_t>(next - now, 0));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

bool Runtime::busy() const {
  if (!ready_.empty() || running_ != 0) return true;
  for (const auto& [name, pool] : pools_) {
    if (!pool.waiting.empty()) return true;
  }
  return false;
}

void Runtime::shut_down() {
  Lock lock(mutex_);
  for (int round = 0; round < shut_down_rounds && (!timers_.empty() || busy()); ++round) {
    auto cancelled = std::exchange(timers_, {});
    for (const auto& [due, timer] : cancelled) fire(timer, 0);
    if (manual_) {
      lock.unlock();
      run();
      lock.lock();
    } else {
      quiet_.wait_for(lock, std::chrono::milliseconds(100), [this] { return !busy(); });
    }
  }
  stopping_ = true;
  auto threads = std::move(threads_);
  threads_.clear();
  wake_.notify_all();
  for (auto& [name, pool] : pools_) pool.wake.notify_all();
  lock.unlock();
  for (auto& thread : threads) thread.join();
}

}  // namespace davit::testing
