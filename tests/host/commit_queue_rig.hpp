// The queue before a storage that a test holds still while requests gather.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>

#include <davit/storage.hpp>

#include "services/commit_queue.hpp"
#include "services/log.hpp"

namespace davit::host {

using namespace std::chrono_literals;

// A storage that writes down its calls: "a,b|c" is two calls, the first of two groups. Every call
// waits for `go`.
class Recorder {
 public:
  Recorder() { instance_ = reinterpret_cast<davit_instance*>(this); }

  davit_ref ref() {
    static const davit_storage table = [] {
      davit_storage t{};
      t.struct_size = sizeof t;
      t.limits = [](davit_instance* i, davit_storage_limits* out, davit_error* e) {
        if (self(i).not_started) return self(i).fail(e, DAVIT_UNAVAILABLE, "is not open");
        put(out, to_abi(self(i).limits));
        return int32_t{DAVIT_OK};
      };
      t.head = [](davit_instance* i, const davit_op*, davit_head* out, davit_error*) -> int32_t {
        out->head = to_abi(Cursor{self(i).incarnation, self(i).newest});
        return DAVIT_OK;
      };
      t.commit = [](davit_instance* i, const davit_op* op, const davit_group* const* g, size_t n,
                    davit_group_result* const* results,
                    davit_error* e) { return self(i).commit(op, g, n, results, e); };
      t.report = [](davit_instance* i, const davit_op*, const davit_status* const* s, size_t n,
                    davit_error* e) { return self(i).report(s, n, e); };
      return t;
    }();
    return {instance_, &table, str("main")};
  }

  void hold() {
    std::lock_guard lock(mutex_);
    held_ = true;
  }
  void go() {
    std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  void wait_until_called() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return inside_ > 0; });
  }
  // Until these calls have begun.
  void wait_until_calls(const std::string& calls) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return calls_ == calls; });
  }
  std::string calls() {
    std::lock_guard lock(mutex_);
    return calls_;
  }
  // What follows is set before the first call, or when all calls are answered: threads of the pool
  // read it without a lock.
  storage::Limits limits;
  std::atomic<bool> not_started{false};
  int32_t whole_call_fails_with = DAVIT_OK;
  std::deque<int32_t> report_answers;  // codes of the coming calls; those after them succeed
  std::string poison;                  // an id that fails its own group, or the whole report
  bool forgets_results = false;
  Version version{};  // the newest given
  Version newest{};   // of the head: the highest ever given
  Incarnation incarnation = 1;
  uint64_t boasts_by = 0;        // versions in answers are higher by this
  Version always_answers{};      // this version, if it is not 0
  bool repeats_version = false;  // gives one version to every group of a call
  int most_at_once = 0;
  int64_t deadline = 0;  // of the last commit

 private:
  static Recorder& self(davit_instance* i) { return *reinterpret_cast<Recorder*>(i); }

  // Waits until it may go on, or its caller gives up.
  void enter(const std::string& call, const Op& caller = Op()) {
    std::unique_lock lock(mutex_);
    most_at_once = std::max(most_at_once, ++inside_);
    calls_ += (calls_.empty() ? "" : "|") + call;
    changed_.notify_all();
    changed_.wait_for(lock, 20s, [&] { return !held_ || caller.cancelled(); });
    --inside_;
  }
  int32_t fail(davit_error* e, int32_t code, const char* message) {
    return fill(e, {static_cast<Code>(code), message});
  }

  int32_t commit(const davit_op* op, const davit_group* const* groups, size_t n,
                 davit_group_result* const* results, davit_error* e) {
    EXPECT_LT(op->deadline_ns, INT64_MAX);
    const Op caller(op);
    const OnCancel wakes(caller, [this] {
      std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    deadline = op->deadline_ns;
    std::string call;
    for (size_t i = 0; i < n; ++i)
      call += (i > 0 ? "," : "") + text(groups[i]->mutations[0]->record->key.id);
    enter(call, caller);
    if (caller.cancelled()) return fail(e, DAVIT_CANCELLED, "cancelled in the storage");
    if (whole_call_fails_with != DAVIT_OK)
      return fail(e, whole_call_fails_with, "the database is away");
    for (size_t i = 0; i < n && !forgets_results; ++i) {
      GroupResult result{incarnation, version + 1 + boasts_by, {}, std::nullopt};
      newest = std::max(newest, version + groups[i]->mutations_count);
      if (!repeats_version || i + 1 == n) version = version + groups[i]->mutations_count;
      if (always_answers) result.first_version = always_answers;
      if (text(groups[i]->mutations[0]->record->key.id) == poison) {
        result = {incarnation, 0, 9, Error{Code::aborted, "version is 9"}};
      }
      put(results[i], to_abi(result));
    }
    return DAVIT_OK;
  }
  int32_t report(const davit_status* const* statuses, size_t n, davit_error* e) {
    std::string call;
    bool poisoned = false;
    for (size_t i = 0; i < n; ++i) {
      call += (i > 0 ? "," : "") + text(statuses[i]->key.id);
      poisoned = poisoned || text(statuses[i]->key.id) == poison;
    }
    enter(call);
    if (whole_call_fails_with != DAVIT_OK)
      return fail(e, whole_call_fails_with, "the database is away");
    if (!report_answers.empty()) {
      const int32_t code = report_answers.front();
      report_answers.pop_front();
      if (code != DAVIT_OK) return fail(e, code, "the database is locked");
    }
    return poisoned ? fail(e, DAVIT_INVALID_ARGUMENT, "poison") : DAVIT_OK;
  }

  davit_instance* instance_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string calls_;
  bool held_ = false;
  int inside_ = 0;
};

class CommitQueueTest : public testing::Test {
 protected:
  ~CommitQueueTest() override { storage_.go(); }

  static Mutation mutation(const std::string& id, const std::string& name = {}, size_t bytes = 0) {
    Mutation m;
    m.record.key = {"deployment", "eu", id};
    m.record.ns = name.empty() ? "" : "default";
    m.record.name = name;
    m.record.payload = std::string(bytes, 'x');
    return m;
  }
  struct Answer {
    CommitQueueTest* test;
    std::string id;
  };
  void commit(std::vector<Mutation> mutations, const std::string& request_id = {}) {
    const std::string id = mutations.empty() ? "none" : mutations.front().record.key.id;
    queue_.commit({op_, Group{std::move(mutations), request_id},
                   [](void* ctx, const davit_group_result* r) {
                     std::unique_ptr<Answer> a(static_cast<Answer*>(ctx));
                     const GroupResult result = from_abi(*r);
                     a->test->note(
                         a->id + "=" +
                         (result.error ? result.error->message : to_string(result.first_version)));
                   },
                   new Answer{this, id}});
  }
  void report(const std::vector<std::string>& ids) {
    std::vector<Status> statuses;
    for (const std::string& id : ids) {
      statuses.emplace_back();
      statuses.back().key = {"deployment", "eu", id};
    }
    queue_.report({op_, statuses,
                   [](void* ctx, int32_t code, const davit_error* e) {
                     std::unique_ptr<Answer> a(static_cast<Answer*>(ctx));
                     a->test->note(a->id + "=" + (code == DAVIT_OK ? "ok" : e->message));
                   },
                   new Answer{this, ids.front()}});
  }
  void note(const std::string& answer) {
    std::lock_guard lock(mutex_);
    answers_.push_back(answer);
    answered_.notify_all();
  }
  // The answers, when there are so many.
  std::string text_of_answers(size_t count) {
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, 20s, [&] { return answers_.size() >= count; });
    std::string out;
    for (const std::string& a : answers_) out += (out.empty() ? "" : " ") + a;
    return out;
  }
  // Lets the storage go on, waits for the end and gives the answers in order.
  std::string answers() {
    storage_.go();
    EXPECT_TRUE(pool_.shutdown(std::chrono::steady_clock::time_point::max()));
    std::string out;
    for (const std::string& a : answers_) out += (out.empty() ? "" : " ") + a;
    return out;
  }
  // The first request is in the storage's hands; what comes now gathers.
  void occupy() {
    storage_.hold();
    commit({mutation("first")});
    storage_.wait_until_called();
  }

  Recorder storage_;
  Pool pool_{"main", 4};
  std::string logged_;  // without the times
  Log log_{[this](std::string_view line) { logged_ += line.substr(line.find(' ') + 1); }};
  CommitQueue queue_{storage_.ref(), pool_,           {{4, 1100}, 6, 100'000},
                     nullptr,        {3, {1ms, 1ms}}, &log_};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<std::string> answers_;
  Op op_;  // of the coming requests
};

}  // namespace davit::host
