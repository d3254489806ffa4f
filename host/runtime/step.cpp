#include "step.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace davit::host {
namespace {

using Clock = std::chrono::steady_clock;

// Never freed: threads that end late, and a signal handler, still read it.
struct Parties {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Party>, std::less<>> all;
  std::set<std::string, std::less<>> modules;
};
Parties& parties() {
  static Parties& all = *new Parties;
  return all;
}

struct Frame {
  std::atomic<const Party*> who{nullptr};
  std::atomic<const char*> what{nullptr};
  std::atomic<Step::Kind> kind{};
  std::atomic<Clock::rep> since{0};
  std::atomic<uint64_t> number{0};
};

constexpr size_t stack_size = size_t{32} << 10;

}  // namespace

// Only the thread itself writes to it. A frame is written while it lies above `depth`. So what
// another thread has read is whole if `changes` has not moved meanwhile.
struct Step::Thread {
  static constexpr uint32_t deepest = 8;  // deeper steps are not seen
  std::array<Frame, deepest> frames;
  std::atomic<uint32_t> depth{0};
  std::atomic<uint64_t> changes{0};
  uint64_t steps = 0;
  uint64_t first_number = 0;
  bool used = false;  // guarded by the mutex of Threads
  // Handlers run on it: after a stack overflow there is no other.
  alignas(16) std::array<char, stack_size> signal_stack;
  bool has_signal_stack = false;
};

struct Step::Threads {
  std::mutex mutex;
  std::deque<Thread> all;
};
Step::Threads& Step::threads() {
  static Threads& all = *new Threads;
  return all;
}

Party& party(std::string_view instance) {
  Parties& all = parties();
  const std::lock_guard lock(all.mutex);
  auto it = all.all.find(instance);
  if (it == all.all.end())
    it = all.all.emplace(std::string(instance), std::make_unique<Party>(instance)).first;
  return *it->second;
}

void set_module(Party& who, std::string_view module) {
  Parties& all = parties();
  const std::lock_guard lock(all.mutex);
  who.module = all.modules.emplace(module).first->c_str();
}

constinit thread_local Step::Thread* Step::this_thread_ = nullptr;

// Lets another thread have the entry when this one ends. A thread that ends inside a step has
// called exit(), which runs this destructor first: what it did is still to be told.
struct Step::Leaver {
  ~Leaver() {
    if (this_thread_ == nullptr || this_thread_->depth != 0) return;
    Thread* const thread = std::exchange(this_thread_, nullptr);
    if (thread->has_signal_stack) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
      thread->has_signal_stack = false;
    }
    const std::lock_guard lock(threads().mutex);
    thread->used = false;
  }
};

Step::Thread& Step::join() {
  static thread_local Leaver leaver;
  (void)leaver;
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  Thread* mine = nullptr;
  for (Thread& thread : all.all) {
    if (!thread.used) mine = &thread;
  }
  if (mine == nullptr) {
    constexpr unsigned steps_bits = 40;
    mine = &all.all.emplace_back();
    mine->first_number = uint64_t{all.all.size()} << steps_bits;
  }
  mine->used = true;
  stack_t old{};
  if (::sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE) != 0) {
    stack_t own{};
    own.ss_sp = mine->signal_stack.data();
    own.ss_size = mine->signal_stack.size();
    mine->has_signal_stack = ::sigaltstack(&own, nullptr) == 0;
  }
  this_thread_ = mine;
  return *mine;
}

Step::Step(Kind kind, const Party& who, const char* what) noexcept {
  Thread& t = this_thread_ != nullptr ? *this_thread_ : join();
  const uint32_t depth = t.depth.load(std::memory_order_relaxed);
  t.changes.store(t.changes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (depth < Thread::deepest) {
    Frame& frame = t.frames[depth];
    frame.who.store(&who, std::memory_order_release);
    frame.what.store(what, std::memory_order_release);
    frame.kind.store(kind, std::memory_order_release);
    frame.number.store(t.first_number + ++t.steps, std::memory_order_release);
    // A call inside another step is frequent and not timed.
    if (kind != Kind::call || depth == 0) {
      frame.since.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
    }
  }
  t.depth.store(depth + 1, std::memory_order_release);
}

Step::~Step() {
  Thread& t = *this_thread_;
  t.changes.store(t.changes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  t.depth.store(t.depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
}

std::optional<Step::Seen> Step::read(const Thread& t) noexcept {
  const uint64_t changes = t.changes.load(std::memory_order_acquire);
  const uint32_t depth = std::min(t.depth.load(std::memory_order_acquire), Thread::deepest);
  if (depth == 0) return std::nullopt;
  const Frame& inner = t.frames[depth - 1];
  Seen out{};
  out.who = inner.who.load(std::memory_order_acquire);
  out.what = inner.what.load(std::memory_order_acquire);
  for (uint32_t i = depth - 1; i-- > 0 && out.caller == nullptr;) {
    const Party* const around = t.frames[i].who.load(std::memory_order_acquire);
    if (around != out.who) out.caller = around;
  }
  uint32_t timed = depth - 1;
  while (timed > 0 && t.frames[timed].kind.load(std::memory_order_acquire) == Kind::call) --timed;
  out.kind = t.frames[timed].kind.load(std::memory_order_acquire);
  out.number = t.frames[timed].number.load(std::memory_order_acquire);
  out.held = Clock::now().time_since_epoch() -
             Clock::duration(t.frames[timed].since.load(std::memory_order_acquire));
  if (t.changes.load(std::memory_order_acquire) != changes) return std::nullopt;
  return out;
}

std::optional<Step::Seen> Step::here() noexcept {
  return this_thread_ == nullptr ? std::nullopt : read(*this_thread_);
}

std::optional<Step::Kind> Step::around() noexcept {
  if (this_thread_ == nullptr) return std::nullopt;
  const Thread& t = *this_thread_;
  const uint32_t depth = std::min(t.depth.load(std::memory_order_relaxed), Thread::deepest);
  for (uint32_t i = depth; i-- > 0;) {
    const Kind kind = t.frames[i].kind.load(std::memory_order_relaxed);
    if (kind != Kind::call || i == 0) return kind;
  }
  return std::nullopt;
}

std::vector<Step::Seen> Step::all() {
  std::vector<Seen> out;
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  for (const Thread& thread : all.all) {
    if (const auto seen = read(thread)) out.push_back(*seen);
  }
  return out;
}

std::string Step::Seen::text() const {
  std::string out = std::string(what) + " of \"" + who->instance + "\"";
  if (caller != nullptr) out += ", called by \"" + caller->instance + "\"";
  return out;
}

}  // namespace davit::host
