// Reporter: takes statuses, progress and issues from anybody at any time and never makes them wait;
// sends them on its own strand, one batch at a time, as Buffer, Breaker and Backoff say.
#pragma once

#include <map>
#include <mutex>

#include <davit/backoff.hpp>
#include <davit/sink.hpp>
#include <davit/status_size.hpp>

#include "breaker.hpp"
#include "buffer.hpp"
#include "last_words.hpp"
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

  // Any thread.
  void offer(Status status);
  void advance(const std::string& region, const KindProgress& progress);
  void issue(const std::string& region, const Issue& issue);

  // On the strand. What is offered before it waits; every status that is sent has this epoch, or a
  // greater one as soon as the peer has heard of one that this is not above: a clock was set back,
  // or is behind that of the machine where the region's agent ran before, or another agent came
  // and went.
  void start(uint64_t epoch);
  // Sends what waits without waiting any more; `flushed` comes once, when all is sent or the peer
  // fails.
  void flush(std::function<void()> flushed);
  // Nothing more is begun.
  void halt();

 private:
  // A quarter of what a peer takes in one message.
  static constexpr size_t batch_bytes_max = 1 << 20;

  void kick();
  void plan();
  void act();
  std::vector<Status> next_batch();
  void send();
  void sent(Sent sent);
  void send_progress();
  void add_issues(Progress& p) const;  // under the mutex
  void progressed(const Result<uint64_t>& r);
  void introduced(uint64_t epoch_taken);
  void rise_above(uint64_t epoch_taken);
  void reported(const std::optional<Error>& failure);
  void show_health();
  void set_delayed(const std::string& why);
  Issue delayed() const;  // under the mutex
  bool nothing_left();

  using Time = std::chrono::nanoseconds;
  // Before any other; the clock may have begun a moment ago.
  static constexpr Time never = Time::min() / 2;
  std::optional<Time> status_due();
  std::optional<Time> waiting_due() const;  // under the mutex
  std::optional<Time> progress_due();

  Host host_;
  const Rules rules_;
  Strand strand_;
  Timer timer_;
  std::unique_ptr<Sender> sender_;

  std::mutex mutex_;  // guards what is offered
  Buffer buffer_;
  Progress progress_;
  std::map<std::string, Cursor> applied_;
  std::map<std::string, Issue> issues_;
  uint64_t sequence_ = 0;
  bool kicked_ = false;
  bool progress_dirty_ = false;
  std::string delayed_;  // why the breaker opened; empty once nothing waits any more
  uint64_t dropped_told_ = 0;

  // On the strand.
  Breaker breaker_;  // of statuses; that the agent lives is said whatever becomes of them
  Backoff backoff_, progress_backoff_, rise_backoff_;
  Time last_send_ = never, last_progress_ = never, retry_at_{0}, progress_retry_at_{0};
  bool sending_ = false, progressing_ = false, running_ = false;
  bool introduced_ = false;  // the peer has answered our first word, so the epoch stands
  LastWords last_words_;     // over a wire on which the peer says that it ignores what we say
  std::optional<Time> repeat_from_;  // what was sent with a lower epoch
  std::optional<Time> rise_logged_at_;
  bool cut_logged_ = false;
  std::string refused_for_;  // why progress was refused last
  size_t under_way_ = 0;     // statuses in the batch that is being sent
  uint64_t failures_ = 0;    // of reports, in a row
  uint64_t silences_ = 0;    // of progress, in a row
  std::function<void()> flushed_;

  Metric waiting_, sent_total_, refused_total_, dropped_total_, failures_total_, breaker_gauge_,
      opened_total_;
};

}  // namespace davit::reporter
