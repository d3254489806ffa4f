#include "reporter.hpp"

namespace davit::reporter {
namespace {

constexpr size_t batch_bytes_max = 1 << 20;  // a quarter of what a peer takes in one message
constexpr size_t issues_max = 10'000;        // as many as one progress message can carry

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
      backoff_(rules.retry) {
  progress_.region = std::move(region);
  progress_.agent = std::move(agent);
  progress_.software = std::string("davit ") + DAVIT_PLUGIN_VERSION;
  progress_.epoch = static_cast<uint64_t>(host.unix_ms());
  waiting_ = host.gauge("davit_reporter_waiting", "Statuses that wait to be sent");
  sent_total_ = host.counter("davit_reporter_sent_total", "Statuses the peer has taken");
  refused_total_ =
      host.counter("davit_reporter_refused_total", "Statuses the peer will never take");
  dropped_total_ =
      host.counter("davit_reporter_dropped_total", "Statuses dropped because the buffer was full");
  failures_total_ = host.counter("davit_reporter_failures_total", "Calls the peer did not answer");
  breaker_gauge_ = host.gauge("davit_reporter_breaker", "0 closed, 1 half-open, 2 open");
}

// --- what is offered
// ------------------------------------------------------------------------------------------

void Reporter::offer(Status status) {
  bool first = false;
  uint64_t dropped = 0;
  {
    std::lock_guard lock(mutex_);
    status.epoch = progress_.epoch;
    status.sequence = ++sequence_;
    status.reported_at_unix_ms = host_.unix_ms();
    if (!buffer_.offer(std::move(status))) dropped = buffer_.dropped();
    first = !kicked_;
    kicked_ = true;
  }
  if (dropped == 1)
    host_.error("the buffer is full and statuses are dropped",
                {{"capacity", std::to_string(rules_.capacity)}});
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

// --- when
// -----------------------------------------------------------------------------------------------

void Reporter::start() {
  running_ = true;
  {
    std::lock_guard lock(mutex_);
    progress_dirty_ = true;  // the first word of an agent is that it lives
  }
  host_.health(DAVIT_HEALTH_SERVING);
  plan();
}

void Reporter::flush(std::function<void()> flushed) {
  flushed_ = std::move(flushed);
  plan();
}

void Reporter::halt() {
  running_ = false;
  timer_.cancel();
}

std::optional<Reporter::Time> Reporter::status_due() {
  std::lock_guard lock(mutex_);
  waiting_.set(static_cast<double>(buffer_.size()));
  if (sending_ || buffer_.empty()) return std::nullopt;
  // The first after a pause goes at once; what follows it waits for the window to fill.
  if (flushed_) return retry_at_;
  return std::max(last_send_ + rules_.batch_window, retry_at_);
}

std::optional<Reporter::Time> Reporter::progress_due() {
  std::lock_guard lock(mutex_);
  if (progressing_) return std::nullopt;
  const bool hurry = progress_dirty_ && (sender_->wants_progress() || last_progress_.count() == 0);
  if (hurry)
    return flushed_ ? retry_at_ : std::max(last_progress_ + rules_.batch_window, retry_at_);
  if (flushed_) return std::nullopt;
  return std::max(last_progress_ + rules_.progress_interval, retry_at_);
}

// Sets the timer to the next thing that is due.
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
  Time due = std::min(status.value_or(Time::max()), progress.value_or(Time::max()));
  if (breaker_.state(host_.now()) == Breaker::State::open) due = std::max(due, breaker_.opens_at());
  timer_.after(std::max(due - host_.now(), Time(0)), [this] { act(); });
}

// A failing peer ends a flush: what waits would not get through in time.
bool Reporter::nothing_left() {
  if (sending_ || progressing_) return false;
  std::lock_guard lock(mutex_);
  return failures_ > 0 || (buffer_.empty() && !(progress_dirty_ && sender_->wants_progress()));
}

void Reporter::act() {
  const Time now = host_.now();
  const auto status = status_due();
  if (status && *status <= now && breaker_.allow(now)) send();
  const auto progress = progress_due();
  // While the probe is under way nothing else goes, and its end plans again.
  if (progress && *progress <= now && breaker_.allow(now)) send_progress();
  if (breaker_.state(now) == Breaker::State::half_open && (sending_ || progressing_)) return;
  plan();
}

// --- what
// -----------------------------------------------------------------------------------------------

void Reporter::send() {
  std::vector<Status> batch;
  {
    std::lock_guard lock(mutex_);
    batch = buffer_.take(rules_.batch_max, batch_bytes_max);
  }
  sending_ = true;
  last_send_ = host_.now();
  under_way_ = batch.size();
  sender_->send(std::move(batch), [this](Sent s) { sent(std::move(s)); });
}

void Reporter::sent(Sent s) {
  sending_ = false;
  sent_total_.add(static_cast<double>(under_way_ - s.again.size() - s.refusals.size()));
  for (const auto& r : s.refusals) {
    refused_total_.add();
    host_.warn("a status was refused", {{"kind", r.kind}, {"id", r.id}, {"reason", r.reason}});
  }
  if (!s.again.empty()) {
    std::lock_guard lock(mutex_);
    buffer_.put_back(std::move(s.again));
  }
  answered(s.failure);
}

void Reporter::send_progress() {
  Progress p;
  {
    std::lock_guard lock(mutex_);
    progress_dirty_ = false;
    p = progress_;
    for (const auto& [kind, at] : applied_) p.kinds.push_back({kind, at});
    for (const auto& [key, issue] : issues_) p.issues.push_back(issue);
  }
  progressing_ = true;
  last_progress_ = host_.now();
  sender_->progress(p, [this](const Result<>& r) { progressed(r); });
}

void Reporter::progressed(const Result<>& r) {
  progressing_ = false;
  std::optional<Error> failure;
  if (!r.ok()) {
    if (worth_retrying(r.error().code)) {
      failure = r.error();
      last_progress_ = Time(0);  // still to be said: as soon as the backoff lets it, on either wire
      std::lock_guard lock(mutex_);
      progress_dirty_ = true;
    } else {
      host_.warn("progress was refused", {{"reason", r.error().message}});
    }
  }
  answered(failure);
}

// A call has ended: told to the breaker, logged when trouble begins and ends, and on to the next.
void Reporter::answered(const std::optional<Error>& failure) {
  if (failure) {
    breaker_.failed(host_.now());
    retry_at_ = host_.now() + backoff_.next(host_.random(), failure->retry_after);
    failures_total_.add();
    if (failures_++ == 0)
      host_.warn("the peer does not take reports", {{"reason", failure->message}});
  } else {
    breaker_.succeeded();
    backoff_.reset();
    retry_at_ = Time(0);
    if (failures_ > 0)
      host_.info("the peer takes reports again", {{"failures", std::to_string(failures_)}});
    failures_ = 0;
  }
  show_breaker();
  plan();
}

void Reporter::show_breaker() {
  const auto state = breaker_.state(host_.now());
  breaker_gauge_.set(state == Breaker::State::closed      ? 0
                     : state == Breaker::State::half_open ? 1
                                                          : 2);
  if (state == Breaker::State::closed) {
    host_.health(DAVIT_HEALTH_SERVING);
  } else {
    host_.health(DAVIT_HEALTH_DEGRADED,
                 "the breaker is open: the control plane does not take reports");
  }
  std::lock_guard lock(mutex_);
  dropped_total_.add(static_cast<double>(buffer_.dropped() - dropped_told_));
  dropped_told_ = buffer_.dropped();
}

}  // namespace davit::reporter
