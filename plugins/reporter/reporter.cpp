#include "reporter.hpp"

namespace davit::reporter {
namespace {

constexpr size_t issues_max = 10'000;  // issues that are kept
constexpr size_t gone_max = 1'000;     // statuses of records that are gone, kept for repetition

std::string key_of(const Issue& i) {
  return i.kind + '\n' + i.id + '\n' + i.ns + '\n' + i.name;
}

}  // namespace

Reporter::Reporter(Host host, Rules rules, Strand strand, std::string region, std::string agent)
    : host_(host),
      rules_(rules),
      strand_(std::move(strand)),
      timer_(strand_),
      buffer_(rules.capacity),
      breaker_(rules.breaker),
      backoff_(rules.retry),
      progress_backoff_(rules.retry),
      rise_backoff_(rules.retry),
      accepted_(rules.capacity, gone_max) {
  progress_.region = std::move(region);
  progress_.agent = std::move(agent);
  progress_.software = std::string("davit ") + DAVIT_PLUGIN_VERSION;
  waiting_ = host.gauge("davit_reporter_waiting", "Statuses that wait to be sent");
  sent_total_ = host.counter("davit_reporter_sent_total", "Statuses the peer has taken");
  refused_total_ =
      host.counter("davit_reporter_refused_total", "Statuses that the peer refused for good");
  dropped_total_ =
      host.counter("davit_reporter_dropped_total", "Statuses dropped because the buffer was full");
  failures_total_ = host.counter("davit_reporter_failures_total", "Calls the peer did not answer");
  breaker_gauge_ = host.gauge("davit_reporter_breaker", "0 closed, 1 half-open, 2 open");
  opened_total_ =
      host.counter("davit_reporter_breaker_opened_total", "Times that the breaker has opened");
}

// --- what is offered --------------------------------------------------------------------------

void Reporter::offer(Status status) {
  bool first = false, cut = false, dropped = false;
  const Key key = status.key;
  {
    std::lock_guard lock(mutex_);
    cut = cut_to(rules_.status_size, status) && !std::exchange(cut_logged_, true);
    status.sequence = ++sequence_;
    status.reported_at_unix_ms = host_.unix_ms();
    dropped = !buffer_.offer(std::move(status));
    first = !kicked_;
    kicked_ = true;
  }
  if (cut)
    host_.warn("a status is too large and was cut; further ones are not logged",
               {{"kind", key.kind}, {"id", key.id}});
  if (dropped) tell_of_drops();
  if (first) kick();
}

void Reporter::advance(const std::string& region, const KindProgress& progress) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    if (region != progress_.region) return;
    applied_[progress.kind] = progress.applied;
    progress_dirty_ = true;
    first = !kicked_;
    kicked_ = true;
  }
  if (first) kick();
}

void Reporter::issue(const std::string& region, const Issue& issue) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    if (region != progress_.region) return;
    if (issue.condition.empty()) {
      issues_.erase(key_of(issue));
    } else if (issues_.size() < issues_max || issues_.contains(key_of(issue))) {
      issues_[key_of(issue)] = issue;
    }
    progress_dirty_ = true;
    first = !kicked_;
    kicked_ = true;
  }
  if (first) kick();
}

void Reporter::kick() {
  strand_.post([this] {
    {
      std::lock_guard lock(mutex_);
      kicked_ = false;
    }
    plan();
  });
}

// --- when -------------------------------------------------------------------------------------

void Reporter::start(Epoch epoch) {
  running_ = true;
  {
    std::lock_guard lock(mutex_);
    progress_.epoch = epoch;
    progress_dirty_ = true;  // an agent's first message is its progress
  }
  host_.health(DAVIT_HEALTH_SERVING);
  plan();
}

void Reporter::flush(std::function<void()> flushed) {
  if (!running_) return flushed();
  flushed_ = std::move(flushed);
  {
    std::lock_guard lock(mutex_);
    buffer_.release(Time::max());  // the last chance of the statuses that were put off
  }
  plan();
}

void Reporter::halt() {
  running_ = false;
  sender_->halt();
  timer_.cancel();
}

std::optional<Reporter::Time> Reporter::status_due() {
  std::lock_guard lock(mutex_);
  buffer_.release(host_.now());
  waiting_.set(static_cast<double>(buffer_.size() + buffer_.put_off_count()));
  if (sending_) return std::nullopt;
  if (!introduced_ && sender_->wants_progress()) return std::nullopt;
  const auto waiting = waiting_due();
  if (!waiting) return std::nullopt;
  // The first status after a pause is sent at once. Those that follow are sent after the window.
  Time due = flushed_ ? retry_at_ : std::max(last_send_ + rules_.batch_window, retry_at_);
  due = std::max(due, *waiting);
  if (breaker_.state(host_.now()) == Breaker::State::open) due = std::max(due, breaker_.opens_at());
  return due;
}

// When there is something to send; nullopt: never.
std::optional<Reporter::Time> Reporter::waiting_due() const {
  if (!buffer_.empty()) return Time(0);
  if (flushed_) return std::nullopt;
  auto due = buffer_.next_due();
  if (repeat_from_ && accepted_.has_below(progress_.epoch))
    due = std::min(due.value_or(*repeat_from_), *repeat_from_);
  return due;
}

std::optional<Reporter::Time> Reporter::progress_due() {
  std::lock_guard lock(mutex_);
  if (progressing_) return std::nullopt;
  const bool hurry = progress_dirty_ && (sender_->wants_progress() || last_progress_ == never);
  if (hurry)
    return flushed_ ? progress_retry_at_
                    : std::max(last_progress_ + rules_.batch_window, progress_retry_at_);
  if (flushed_) return std::nullopt;
  return std::max(last_progress_ + rules_.progress_interval, progress_retry_at_);
}

// Sets the timer to the next call that is due.
void Reporter::plan() {
  if (!running_) return;
  if (flushed_ && nothing_left()) {
    auto flushed = std::move(flushed_);
    flushed_ = nullptr;
    halt();
    flushed();
    return;
  }
  const auto status = status_due(), progress = progress_due();
  if (!status && !progress) {
    timer_.cancel();
    return;
  }
  const Time due = std::min(status.value_or(Time::max()), progress.value_or(Time::max()));
  timer_.after(std::max(due - host_.now(), Time(0)), [this] { act(); });
}

// True: the flush is over. A failing peer ends it, because what waits would not arrive in time.
bool Reporter::nothing_left() {
  if (sending_ || progressing_) return false;
  std::lock_guard lock(mutex_);
  return failures_ > 0 || silences_ > 0 ||
         (buffer_.empty() && !(progress_dirty_ && sender_->wants_progress()));
}

void Reporter::act() {
  const Time now = host_.now();
  const auto progress = progress_due();
  if (progress && *progress <= now) send_progress();
  const auto status = status_due();
  if (status && *status <= now && breaker_.allow(now)) send();
  plan();
}

// --- what -------------------------------------------------------------------------------------

// New statuses, and repetitions as far as there is room.
std::vector<Status> Reporter::next_batch() {
  std::lock_guard lock(mutex_);
  std::vector<Status> batch = buffer_.take(rules_.batch_max, batch_bytes_max);
  if (!flushed_ && repeat_from_ && *repeat_from_ <= host_.now())
    accepted_.add_below(progress_.epoch, rules_.batch_max, batch_bytes_max, batch);
  for (Status& s : batch) s.epoch = progress_.epoch;
  return batch;
}

void Reporter::send() {
  std::vector<Status> batch = next_batch();
  sending_ = true;
  last_send_ = host_.now();
  under_way_ = batch.size();
  if (sender_->wants_progress()) accepted_.sending(batch);
  sender_->send(std::move(batch), [this](Sent s) { sent(std::move(s)); });
}

void Reporter::sent(Sent s) {
  sending_ = false;
  accepted_.ended(!s.failure);
  sent_total_.add(
      static_cast<double>(under_way_ - s.again.size() - s.later.size() - s.refusals.size()));
  for (const auto& r : s.refusals) {
    refused_total_.add();
    accepted_.forget({r.kind, progress_.region, r.id});
    host_.warn("a status was refused", {{"kind", r.kind}, {"id", r.id}, {"reason", r.reason}});
  }
  {
    std::lock_guard lock(mutex_);
    buffer_.put_back(std::move(s.again));
    for (auto& [status, wait] : s.later) buffer_.put_off(std::move(status), host_.now() + wait);
  }
  reported(s.failure);
}

// Tells the breaker how a batch ended, logs when failures begin and end, and plans the next batch.
void Reporter::reported(const std::optional<Error>& failure) {
  if (failure) {
    const uint64_t opened = breaker_.opened();
    breaker_.failed(host_.now());
    if (breaker_.opened() > opened) {
      opened_total_.add();
      set_delayed(failure->message);
    }
    retry_at_ = host_.now() + backoff_.next(host_.random(), failure->retry_after);
    failures_total_.add();
    if (failures_++ == 0)
      host_.warn("the peer does not take reports", {{"reason", failure->message}});
  } else {
    breaker_.succeeded();
    set_delayed({});
    backoff_.reset();
    retry_at_ = Time(0);
    if (failures_ > 0)
      host_.info("the peer takes reports again", {{"failures", std::to_string(failures_)}});
    failures_ = 0;
  }
  show_health();
  plan();
}

void Reporter::show_health() {
  const auto state = breaker_.state(host_.now());
  breaker_gauge_.set(state == Breaker::State::closed      ? 0
                     : state == Breaker::State::half_open ? 1
                                                          : 2);
  if (state != Breaker::State::closed) {
    host_.health(DAVIT_HEALTH_DEGRADED,
                 "the breaker is open: the control plane does not take reports");
  } else if (silences_ >= rules_.breaker.failures_max) {
    host_.health(DAVIT_HEALTH_DEGRADED, "progress and heartbeats do not reach the control plane");
  } else {
    host_.health(DAVIT_HEALTH_SERVING);
  }
  tell_of_drops();
}

// Counts what was dropped, and says when that begins. It is over when half of the buffer is free:
// a buffer that is full again and again would fill the log otherwise.
void Reporter::tell_of_drops() {
  bool begins = false, ends = false;
  uint64_t dropped = 0;
  {
    std::lock_guard lock(mutex_);
    const uint64_t all = buffer_.dropped();
    dropped_total_.add(static_cast<double>(all - std::exchange(dropped_told_, all)));
    if (!dropping_) {
      begins = dropping_ = all > dropped_before_;
    } else if (buffer_.size() + buffer_.put_off_count() <= rules_.capacity / 2) {
      ends = true;
      dropping_ = false;
      dropped = all - std::exchange(dropped_before_, all);
    }
  }
  if (begins)
    host_.error("the buffer is full and statuses are dropped",
                {{"capacity", std::to_string(rules_.capacity)}});
  if (ends) host_.info("the buffer has room again", {{"dropped", std::to_string(dropped)}});
}

}  // namespace davit::reporter
