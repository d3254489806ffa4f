#include "runtime.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "pool.hpp"
#include "step.hpp"

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

struct davit_strand {
  davit_strand(std::shared_ptr<davit::host::Runtime::State> s, const davit::host::Party* o);
  // A foreign thread may release a strand after the runtime is gone. The last owner frees the
  // state.
  std::shared_ptr<davit::host::Runtime::State> state;
  asio::strand<asio::io_context::executor_type> strand;
  const davit::host::Party* const owner;  // nullptr: unknown
  std::atomic<uint32_t> references{1};
};

namespace davit::host {
namespace {

using StrandRef = std::shared_ptr<davit_strand>;
StrandRef hold(davit_strand* s) {
  Runtime::retain(s);
  return {s, &Runtime::release};
}

template <class Task>
void run_for(const Party* owner, Task task) {
  if (owner == nullptr) return task();
  const Step step(Step::Kind::task, *owner, "a task");
  task();
}

// A waiting timer. The function that removes it from the map decides how it ends.
struct Waiting {
  Waiting(StrandRef s, asio::io_context& io, davit_timer_task t, void* a)
      : strand(std::move(s)), timer(io), task(t), arg(a) {}
  StrandRef strand;
  asio::steady_timer timer;
  davit_timer_task task;
  void* arg;
};

}  // namespace

struct Runtime::State {
  asio::io_context io;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work{
      asio::make_work_guard(io)};
  std::mutex mutex;  // guards everything below
  std::condition_variable ended;
  std::vector<std::thread> threads;
  unsigned alive = 0;
  bool closed = false;
  std::unordered_map<uint64_t, std::shared_ptr<Waiting>> timers;
  uint64_t last_timer = 0;
  std::map<std::string, std::unique_ptr<Pool>, std::less<>> pools;

  // Ends the timer, on its strand. Exactly one caller gets the entry out of the map.
  void end_timer(uint64_t id, bool fired) {
    std::shared_ptr<Waiting> waiting;
    {
      std::lock_guard lock(mutex);
      auto it = timers.find(id);
      if (it == timers.end()) return;
      waiting = std::move(it->second);
      timers.erase(it);
    }
    run_for(waiting->strand->owner, [&] { waiting->task(waiting->arg, fired ? 1 : 0); });
  }

  void work_loop(unsigned number) {
    pthread_setname_np(pthread_self(), ("worker-" + std::to_string(number)).c_str());
    io.run();
    std::lock_guard lock(mutex);
    --alive;
    ended.notify_all();
  }
};

Runtime::Runtime(unsigned workers) : state_(std::make_shared<State>()) {
  if (workers == 0) workers = std::max(2U, std::thread::hardware_concurrency());
  std::lock_guard lock(state_->mutex);
  for (unsigned i = 0; i < workers; ++i) {
    ++state_->alive;
    state_->threads.emplace_back([state = state_.get(), i] { state->work_loop(i); });
  }
}

Runtime::~Runtime() {
  shutdown(Clock::time_point::max());
  run_rest();
}

davit_strand* Runtime::strand(std::string_view owner) {
  return new davit_strand(state_, owner.empty() ? nullptr : &party(owner));
}

void Runtime::retain(davit_strand* s) {
  s->references.fetch_add(1, std::memory_order_relaxed);
}
void Runtime::release(davit_strand* s) {
  if (s->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete s;
}

void Runtime::post(davit_strand* s, davit_task task, void* arg) {
  asio::post(s->strand, [task, arg, held = hold(s)] { run_for(held->owner, [&] { task(arg); }); });
}

uint64_t Runtime::timer(davit_strand* s, int64_t delay_ns, davit_timer_task task, void* arg) {
  State& state = *s->state;
  auto waiting = std::make_shared<Waiting>(hold(s), state.io, task, arg);
  std::lock_guard lock(state.mutex);
  const uint64_t id = ++state.last_timer;
  state.timers.emplace(id, waiting);
  if (state.closed) {
    asio::post(s->strand, [&state, id] { state.end_timer(id, false); });
    return id;
  }
  // A century serves as "never", and does not overflow the clock.
  constexpr int64_t longest_ns = 100LL * 365 * 86'400 * 1'000'000'000;
  waiting->timer.expires_after(
      std::chrono::nanoseconds(std::clamp<int64_t>(delay_ns, 0, longest_ns)));
  waiting->timer.async_wait(
      asio::bind_executor(s->strand, [&state, id](boost::system::error_code error) {
        if (!error) state.end_timer(id, true);
      }));
  return id;
}

void Runtime::cancel(davit_strand* s, uint64_t id) {
  State& state = *s->state;
  std::shared_ptr<Waiting> waiting;
  std::lock_guard lock(state.mutex);
  auto it = state.timers.find(id);
  if (it == state.timers.end()) return;
  waiting = std::move(it->second);
  state.timers.erase(it);
  waiting->timer.cancel();
  asio::post(waiting->strand->strand, [waiting] {
    run_for(waiting->strand->owner, [&] { waiting->task(waiting->arg, 0); });
  });
}

void Runtime::post(std::function<void()> task) {
  asio::post(state_->io, std::move(task));
}

asio::io_context& Runtime::io() {
  return state_->io;
}

std::string Runtime::pool_that_stands_still(std::chrono::nanoseconds longer_than) {
  std::lock_guard lock(state_->mutex);
  for (const auto& [instance, pool] : state_->pools) {
    if (pool->stands_still() > longer_than) return instance;
  }
  return {};
}

Pool& Runtime::pool(std::string_view instance, unsigned max_concurrency) {
  std::lock_guard lock(state_->mutex);
  auto it = state_->pools.find(instance);
  if (it == state_->pools.end()) {
    auto pool = std::make_unique<Pool>(std::string(instance), max_concurrency);
    it = state_->pools.emplace(std::string(instance), std::move(pool)).first;
  }
  return *it->second;
}

bool Runtime::shutdown(Clock::time_point deadline) {
  State& state = *state_;
  // Blocking calls end first, while the workers still run the tasks that those calls post.
  std::vector<Pool*> pools;
  {
    std::lock_guard lock(state.mutex);
    for (auto& [name, pool] : state.pools) pools.push_back(pool.get());
  }
  for (Pool* pool : pools) {
    if (!pool->shutdown(deadline)) return false;
  }
  std::unique_lock lock(state.mutex);
  state.closed = true;
  for (auto& [id, waiting] : state.timers) {
    waiting->timer.cancel();
    asio::post(waiting->strand->strand, [&state, id = id] { state.end_timer(id, false); });
  }
  state.work.reset();
  const auto done = [&state] { return state.alive == 0; };
  if (deadline == Clock::time_point::max()) {
    state.ended.wait(lock, done);
  } else if (!state.ended.wait_until(lock, deadline, done)) {
    return false;
  }
  std::vector<std::thread> threads = std::move(state.threads);
  state.threads.clear();
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  return true;
}

std::string Runtime::busy() const {
  std::lock_guard lock(state_->mutex);
  for (const auto& [name, pool] : state_->pools) {
    if (pool->busy()) return name;
  }
  const auto task = Step::oldest([](const Step::Seen& s) { return s.kind == Step::Kind::task; });
  return task ? task->who->instance : "workers";
}

void Runtime::run_rest() {
  state_->io.restart();
  state_->io.run();
}

}  // namespace davit::host

davit_strand::davit_strand(std::shared_ptr<davit::host::Runtime::State> s,
                           const davit::host::Party* o)
    : state(std::move(s)), strand(asio::make_strand(state->io)), owner(o) {}
