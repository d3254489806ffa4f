// Reporter: the status sink of the applier and the watcher. It accepts statuses, progress and
// issues on any thread and at once. It sends them through a Sender on its own strand, one batch at
// a time. Buffer, Breaker and Backoff decide what is sent when.
#pragma once

#include <map>
#include <mutex>

#include <davit/backoff.hpp>
#include <davit/sink.hpp>
#include <davit/status_size.hpp>

#include "accepted_statuses.hpp"
#include "breaker.hpp"
#include "buffer.hpp"
#include "sender.hpp"

namespace davit::reporter {

struct Rules {
  size_t capacity = 10'000;
  std::chrono::milliseconds batch_window{200};
  size_t batch_max = 500;
  Backoff::Limits retry{std::chrono::milliseconds(200), std::chrono::milliseconds(30'000)};
  Breaker::Rules breaker;
  std::chrono::milliseconds progress_interval{30'000};
  std::chrono::milliseconds repeat_interval{60'000};
  StatusSize status_size;
};

class Reporter {
 public:
  Reporter(Host host, Rules rules, Strand strand, std::string region, std::string agent);
  void use(std::unique_ptr<Sender> sender) { sender_ = std::move(sender); }

  // [any]
  void offer(Status status);
  void advance(const std::string& region, const KindProgress& progress);
  void issue(const std::string& region, const Issue& issue);

  // On the strand. Begins to send; statuses offered before have waited. They are sent with this
  // epoch. When the peer has heard of an epoch that is not below ours, the Reporter raises its own
  // above that one. The reasons: a clock was set back, this machine's clock is behind that of
  // another machine, or another agent came and went.
  void start(Epoch epoch);
  // Sends what waits without further delay. Calls `flushed` once, when all is sent or the peer
  // fails.
  void flush(std::function<void()> flushed);
  // Begins no more calls.
  void halt();
  // False: a kind is still being asked for its reports.
  bool idle() const { return sender_->idle(); }

 private:
  // A quarter of the largest message that a peer accepts.
  static constexpr size_t batch_bytes_max = 1 << 20;

  void kick();
  void plan();
  void act();
  std::vector<Status> next_batch();
  void send();
  void sent(Sent sent);
  void send_progress();
  void add_issues(Progress& p) const;  // under the mutex
  void progressed(const Result<Epoch>& r);
  void introduced(Epoch epoch_taken);
  void rise_above(Epoch epoch_taken);
  void reported(const std::optional<Error>& failure);
  void show_health();
  void tell_of_drops();  // [any]
  void set_delayed(const std::string& why);
  Issue delayed() const;  // under the mutex
  bool nothing_left();

  using Time = std::chrono::nanoseconds;
  // Earlier than any time of the host's clock, which may have begun a moment ago.
  static constexpr Time never = Time::min() / 2;
  std::optional<Time> status_due();
  std::optional<Time> waiting_due() const;  // under the mutex
  std::optional<Time> progress_due();

  Host host_;
  const Rules rules_;
  Strand strand_;
  Timer timer_;
  std::unique_ptr<Sender> sender_;

  std::mutex mutex_;  // guards the members from here to dropped_before_
  Buffer buffer_;
  Progress progress_;
  std::map<std::string, Cursor> applied_;
  std::map<std::string, Issue> issues_;
  uint64_t sequence_ = 0;
  bool kicked_ = false;
  bool progress_dirty_ = false;
  std::string delayed_;          // why the breaker opened last; empty once nothing waits any more
  uint64_t dropped_told_ = 0;    // of all that were dropped, how many the metric has
  bool dropping_ = false;        // the log has said that statuses are dropped
  uint64_t dropped_before_ = 0;  // of all that were dropped, how many before that

  // On the strand.
  Breaker breaker_;  // for statuses only; progress is sent whatever its state
  Backoff backoff_, progress_backoff_, rise_backoff_;
  Time last_send_ = never, last_progress_ = never, retry_at_{0}, progress_retry_at_{0};
  bool sending_ = false, progressing_ = false, running_ = false;
  bool introduced_ = false;    // the peer has answered the first progress, so the epoch is settled
  AcceptedStatuses accepted_;  // for davit.v1, where the peer tells of a greater epoch
  std::optional<Time> repeat_from_;  // when statuses that have a lower epoch may be repeated
  std::optional<Time> rise_logged_at_;
  bool cut_logged_ = false;  // guarded by the mutex: offer uses it
  std::string refused_for_;  // why progress was refused last
  size_t under_way_ = 0;     // statuses in the batch under way
  uint64_t failures_ = 0;    // reports that failed in a row
  uint64_t silences_ = 0;    // progress calls that failed in a row
  std::function<void()> flushed_;

  Metric waiting_, sent_total_, refused_total_, dropped_total_, failures_total_, breaker_gauge_,
      opened_total_;
};

}  // namespace davit::reporter
