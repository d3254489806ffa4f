// The queue in front of the storages (service davit.commit): groups that wait are committed by one
// call, so that a simple backend gets group commit for nothing. Reports likewise. One commit and
// one report call are in flight per storage.
//
// A call of reports that fails in passing (UNAVAILABLE, ABORTED) is tried again a few times within
// the time of one call: repeating it is harmless, because the store ignores what is not newer. What
// fails after that, and every other failure, is the answer of everybody in the call. Commits are
// never repeated here: a failure may hide a success, and only who asked can tell.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <davit/backoff.hpp>
#include <davit/records.hpp>

#include "lane.hpp"

namespace davit::host {

struct ReportRetry {
  uint32_t attempts = 3;  // longer troubles are the reporter's, which backs off by itself
  // A lock is let go and a lost connection made anew within this; the pool's thread waits.
  Backoff::Limits pause{std::chrono::milliseconds(50), std::chrono::milliseconds(200)};
};

class CommitQueue {
 public:
  struct Commit {
    Group group;
    davit_commit_done done;
    void* ctx;
    std::chrono::steady_clock::time_point since{};  // when it was handed over
  };
  struct Report {
    std::vector<Status> statuses;
    davit_report_done done;
    void* ctx;
  };

  // `duration`: a histogram of how long a group waits for its result, from being handed over; may
  // be NULL.
  CommitQueue(davit_ref storage, Pool& pool, LaneLimits limits = {},
              davit_metric* duration = nullptr, ReportRetry retry = {});

  // `done` is called once, on a thread of the pool. [any]
  void commit(Commit);
  void report(Report);

 private:
  class Versions;  // of commit_queue.cpp
  void call_commit(std::vector<Commit>);
  void call_report(std::vector<Report>);
  Result<> call_report(const Report* const* reports, size_t count);

  davit_ref storage_;
  Pool& pool_;
  davit_metric* duration_;
  const ReportRetry retry_;
  std::minstd_rand random_{std::random_device{}()};  // of the one call of reports in flight
  Lane<Commit> commits_;
  Lane<Report> reports_;
};

// One queue per storage instance. Filled before the first commit, then only read.
class CommitQueues {
 public:
  void add(std::string_view instance, davit_ref storage, Pool& pool, davit_metric* duration) {
    queues_.emplace(std::string(instance),
                    std::make_unique<CommitQueue>(storage, pool, LaneLimits{}, duration));
  }
  // nullptr: no such storage.
  CommitQueue* find(std::string_view instance) const {
    auto it = queues_.find(instance);
    return it == queues_.end() ? nullptr : it->second.get();
  }

 private:
  std::map<std::string, std::unique_ptr<CommitQueue>, std::less<>> queues_;
};

// Answers on the pool, as the contract says.
void answer(Pool& pool, CommitQueue::Commit, Error);
void answer(Pool& pool, CommitQueue::Report, Error);

}  // namespace davit::host
