// The queue in front of the storages (service davit.commit). Waiting groups are committed by one
// call, so even a simple backend has group commit. Reports are combined in the same way. Each
// storage has at most one commit call and one report call in flight.
//
// No call exceeds what the storage may hold (limits.hpp): a larger group is refused, a larger
// report is divided. What no storage keeps is refused, too.
//
// What its caller no longer wants when its turn comes is answered and does not reach the storage.
// Of what goes into one call the latest deadline holds (joint_operation.hpp).
//
// A report call that fails for a moment (UNAVAILABLE, ABORTED) is repeated a few times, within its
// deadline. Repeating it is harmless, because the store ignores a status that is not
// newer. A later failure of the storage is the answer to every report in the call. If the storage
// refuses what it was given, each report is tried alone, so that one bad report does not fail the
// others. Commits are never repeated here: a failure may hide a success, and only the caller can
// find out which.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <davit/backoff.hpp>
#include <davit/operation.hpp>
#include <davit/records.hpp>

#include "lane.hpp"
#include "limits.hpp"
#include "versions.hpp"

namespace davit::host {

class Log;

struct ReportRetry {
  uint32_t attempts = 3;  // the reporter backs off by itself when a failure lasts longer
  // Long enough for a lock to be released or a lost connection to be replaced. The pool's thread
  // waits.
  Backoff::Limits pause{std::chrono::milliseconds(50), std::chrono::milliseconds(200)};
};

// How long a call of the storage lasts whose callers have no deadline, unless the configuration
// says otherwise.
inline constexpr std::chrono::seconds default_commit_timeout{30};

class CommitQueue {
 public:
  struct Commit {
    Op op;  // lives until `done`
    Group group;
    davit_commit_done done;
    void* ctx;
    std::chrono::steady_clock::time_point since{};  // when the queue received it
  };
  struct Report {
    Op op;  // lives until `done`
    std::vector<Status> statuses;
    davit_report_done done;
    void* ctx;
  };

  // `duration` is a histogram of the time from receiving a group to its result. It may be NULL.
  // Faults of the storage go to `log`, unless it is NULL. `call_longest` is the deadline of a call
  // whose callers have none: one of them must not hold up all others for ever.
  CommitQueue(davit_ref storage, Pool& pool, LaneLimits limits = {},
              davit_metric* duration = nullptr, ReportRetry retry = {}, Log* log = nullptr,
              std::chrono::nanoseconds call_longest = default_commit_timeout);

  // The storage has intents (storage_intents.h). Before the first commit.
  void let_intents_in() { takes_intents_ = true; }

  // `done` is called once, on a thread of the pool. [any]
  void commit(Commit);
  void report(Report);

 private:
  // The storage's own, asked for until it tells them.
  Result<storage::Limits> limits();
  Error in_storage(const Error& error) const;
  void call_commit(std::vector<Commit>);
  Result<> call_commit(const std::vector<Commit>& batch, std::vector<davit_group_result>& results);
  void call_report(std::vector<Report>);
  Result<> call_report(const Report* const* reports, size_t count);
  Result<> call_report(const Op& op, const Status* const* statuses, size_t count);
  std::optional<Cursor> head(const Op& op) const;
  void tell(const char* call, uint64_t& failures, const Error* error);

  davit_ref storage_;
  Pool& pool_;
  bool takes_intents_ = false;
  davit_metric* duration_;
  Log* const log_;
  // Only the one commit call in flight uses these, or the one report call.
  Versions versions_;
  uint64_t failed_commits_ = 0, failed_reports_ = 0;
  const ReportRetry retry_;
  const std::chrono::nanoseconds call_longest_;
  std::mutex limits_mutex_;
  std::optional<storage::Limits> limits_;
  std::minstd_rand random_{std::random_device{}()};  // only the one report call in flight uses it
  Lane<Commit> commits_;
  Lane<Report> reports_;
};

// The queues of all storage instances. Filled before the first commit, then only read.
class CommitQueues {
 public:
  CommitQueue& add(std::string_view instance, davit_ref storage, Pool& pool, davit_metric* duration,
                   Log& log, std::chrono::nanoseconds call_longest = default_commit_timeout) {
    auto made = std::make_unique<CommitQueue>(storage, pool, LaneLimits{}, duration, ReportRetry{},
                                              &log, call_longest);
    return *queues_.emplace(std::string(instance), std::move(made)).first->second;
  }
  // nullptr: there is no such storage.
  CommitQueue* find(std::string_view instance) const {
    auto it = queues_.find(instance);
    return it == queues_.end() ? nullptr : it->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<CommitQueue>, std::less<>> queues_;
};

// Calls `done` with the error on a thread of the pool, as the contract of davit.commit requires.
void answer(Pool& pool, CommitQueue::Commit, Error);
void answer(Pool& pool, CommitQueue::Report, Error);

}  // namespace davit::host
