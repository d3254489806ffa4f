// The two ends of a davit_op. Operation is a caller's own: it has a deadline and can be cancelled.
// OnCancel is for the callee: it is told when the caller gives up. CallerOp is the op of a client's
// calls. Operations keeps what a plugin has begun, so that its stop can cancel all of it. Any
// thread may use each of them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "types.hpp"

namespace davit {

// Runs a function once when the caller of an op gives up: on the thread that cancels, or in the
// constructor when the caller already has. The function is cheap, does not block and takes no lock
// under which an OnCancel is destroyed. The destructor waits for it; afterwards it does not run.
// The op outlives this object.
class OnCancel {
 public:
  OnCancel(const Op& op, std::function<void()> told)
      : op_(op.abi()), told_(new std::function<void()>(std::move(told))) {
    watch_ = op_->on_cancel(op_, &tell, told_.get());
  }
  ~OnCancel() {
    if (told_) op_->off_cancel(op_, watch_);
  }
  OnCancel(OnCancel&& o) noexcept = default;
  OnCancel& operator=(OnCancel&&) = delete;

 private:
  static void tell(void* ctx) {
    must_not_throw("a function of davit_op.on_cancel",
                   [&] { (*static_cast<std::function<void()>*>(ctx))(); });
  }
  const davit_op* op_;
  std::unique_ptr<std::function<void()>> told_;  // empty: moved from
  davit_op_watch* watch_ = nullptr;
};

// A caller's op. Copies share it. Whoever calls an asynchronous slot keeps a copy until the answer.
class Operation {
 public:
  explicit Operation(int64_t deadline_ns = INT64_MAX, std::string trace = {})
      : state_(std::make_shared<State>(deadline_ns, std::move(trace))) {}

  // Tells the callees that nobody waits any more. Returns when they have been told. A second call
  // does nothing.
  void cancel() const {
    const auto state = state_;  // a callee may drop the last handle
    state->cancel();
  }
  bool cancelled() const { return state_->cancelled; }
  int64_t deadline_ns() const { return state_->abi.deadline_ns; }
  const davit_op* abi() const { return &state_->abi; }
  // Valid while a copy of the Operation is kept.
  Op op() const { return Op(abi()); }
  operator Op() const { return op(); }

 private:
  friend class CallerOp;
  friend class Operations;
  struct Watch {
    void (*fn)(void*);
    void* ctx;
  };
  struct State {
    davit_op abi{};  // first: the slots get a pointer to it
    const std::string trace;
    std::atomic<bool> cancelled{false};
    std::mutex mutex;
    std::condition_variable told;
    std::set<Watch*> waiting;        // not told yet
    const Watch* running = nullptr;  // its function runs on the thread that cancels

    State(int64_t deadline_ns, std::string w3c) : trace(std::move(w3c)) {
      abi = {sizeof abi, 0, deadline_ns, &is_cancelled, str(trace), &watch, &unwatch};
    }
    void cancel() {
      std::unique_lock lock(mutex);
      if (cancelled.exchange(true)) return;
      while (!waiting.empty()) {
        Watch* next = waiting.extract(waiting.begin()).value();
        running = next;
        lock.unlock();
        next->fn(next->ctx);
        lock.lock();
        running = nullptr;
        told.notify_all();
      }
    }
  };
  static State& of(const davit_op* op) {
    return *reinterpret_cast<State*>(const_cast<davit_op*>(op));
  }
  static int32_t is_cancelled(const davit_op* op) { return of(op).cancelled ? 1 : 0; }
  static davit_op_watch* watch(const davit_op* op, void (*fn)(void*), void* ctx) {
    return must_not_throw("davit_op.on_cancel", [&] {
      State& state = of(op);
      auto* made = new Watch{fn, ctx};
      std::unique_lock lock(state.mutex);
      if (!state.cancelled) {
        state.waiting.insert(made);
      } else {
        lock.unlock();
        fn(ctx);
      }
      return reinterpret_cast<davit_op_watch*>(made);
    });
  }
  static void unwatch(const davit_op* op, davit_op_watch* watch) {
    must_not_throw("davit_op.off_cancel", [&] {
      State& state = of(op);
      const std::unique_ptr<Watch> ended(reinterpret_cast<Watch*>(watch));
      std::unique_lock lock(state.mutex);
      state.waiting.erase(ended.get());
      state.told.wait(lock, [&] { return state.running != ended.get(); });
    });
  }

  std::shared_ptr<State> state_;
};

// The op of a client's calls. It is an Operation, which this object keeps, or the op of a call that
// the client's owner serves, which outlives this object. Without either it never ends.
class CallerOp {
 public:
  CallerOp() = default;
  CallerOp(const Operation& own) : own_(own.state_), op_(own.op()) {}
  CallerOp(const Op& borrowed) : op_(borrowed) {}
  operator const Op&() const { return op_; }
  const davit_op* abi() const { return op_.abi(); }

 private:
  std::shared_ptr<const void> own_;  // what op_ borrows from; empty: it is somebody else's
  Op op_;
};

// What a plugin has begun and may have to cancel: its own work, and the calls that it serves.
// Copies share it.
class Operations {
 public:
  // A new operation. After cancel() it is cancelled from the first.
  Operation begin(int64_t deadline_ns = INT64_MAX) const {
    Operation made(deadline_ns);
    add(made);
    return made;
  }
  // cancel() cancels this one, too, as long as somebody keeps it.
  void add(const Operation& operation) const {
    {
      const std::lock_guard lock(kept_->mutex);
      if (!kept_->over) return kept_->keep(operation.state_);
    }
    operation.cancel();
  }
  bool cancelled() const {
    const std::lock_guard lock(kept_->mutex);
    return kept_->over;
  }
  // Cancels all, and those that are added later.
  void cancel() const {
    std::vector<std::weak_ptr<Operation::State>> all;
    {
      const std::lock_guard lock(kept_->mutex);
      kept_->over = true;
      all.swap(kept_->operations);
    }
    for (const auto& one : all)
      if (const auto state = one.lock()) state->cancel();
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::vector<std::weak_ptr<Operation::State>> operations;
    size_t sweep_at = 64;
    bool over = false;

    // Forgets those that have ended when their number has doubled, so that one costs little.
    void keep(const std::shared_ptr<Operation::State>& state) {
      if (operations.size() >= sweep_at) {
        std::erase_if(operations, [](const auto& one) { return one.expired(); });
        sweep_at = std::max<size_t>(64, 2 * operations.size());
      }
      operations.push_back(state);
    }
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace davit
