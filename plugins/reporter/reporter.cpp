#include "reporter.hpp"

namespace davit::reporter {
namespace {

constexpr size_t batch_bytes_max = 1 << 20;  // a quarter of what a peer takes in one message
constexpr size_t issues_max = 10'000;        // that are kept
// Two agents of a region that both work rise above each other for as long as they do.
constexpr std::chrono::minutes rise_logged_every{10};

const char* word(Breaker::State state) {
  return state == Breaker::State::closed ? "closed"
         : state == Breaker::State::open ? "open"
                                         : "half-open";
}

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
      unconfirmed_(rules.capacity) {
  progress_.region = std::move(region);
  progress_.agent = std::move(agent);
  progress_.software = std::string("davit ") + DAVIT_PLUGIN_VERSION;
  waiting_ = host.gauge("davit_reporter_waiting", "Statuses that wait to be sent");
  sent_total_ = host.counter("davit_reporter_sent_total", "Statuses the peer has taken");
  refused_total_ =
      host.counter("davit_reporter_refused_total", "Statuses the peer will never take");
  dropped_total_ =
      host.counter("davit_reporter_dropped_total", "Statuses dropped because the buffer was full");
  failures_total_ = host.counter("davit_reporter_failures_total", "Calls the peer did not answer");
  breaker_gauge_ = host.gauge("davit_reporter_breaker", "0 closed, 1 half-open, 2 open");
  opened_total_ =
      host.counter("davit_reporter_breaker_opened_total", "Times that the breaker has opened");
}

// --- what is offered
// ------------------------------------------------------------------------------------------

void Reporter::offer(Status status) {
  bool first = false, cut = false;
  uint64_t dropped = 0;
  const Key key = status.key;
  {
    std::lock_guard lock(mutex_);
    cut = cut_to(rules_.status_size, status) && !std::exchange(cut_logged_, true);
    status.sequence = ++sequence_;
    status.reported_at_unix_ms = host_.unix_ms();
    if (!buffer_.offer(std::move(status))) dropped = buffer_.dropped();
    first = !kicked_;
    kicked_ = true;
  }
  if (cut)
    host_.warn("a status was too large and is cut; others are cut without a word",
               {{"kind", key.kind}, {"id", key.id}});
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

void Reporter::start(uint64_t epoch) {
  running_ = true;
  {
    std::lock_guard lock(mutex_);
    progress_.epoch = epoch;
    progress_dirty_ = true;  // the first word of an agent is that it lives
  }
  host_.health(DAVIT_HEALTH_SERVING);
  plan();
}

void Reporter::flush(std::function<void()> flushed) {
  if (!running_) return flushed();
  flushed_ = std::move(flushed);
  {
    std::lock_guard lock(mutex_);
    buffer_.release(Time::max());  // once more; it is the last chance
  }
  plan();
}

void Reporter::halt() {
  running_ = false;
  timer_.cancel();
}

std::optional<Reporter::Time> Reporter::status_due() {
  std::lock_guard lock(mutex_);
  buffer_.release(host_.now());
  waiting_.set(static_cast<double>(buffer_.size() + buffer_.put_off_count()));
  if (sending_) return std::nullopt;
  if (!introduced_ && sender_->wants_progress()) return std::nullopt;
  if (buffer_.empty() && (flushed_ || !buffer_.next_due())) return std::nullopt;
  // The first after a pause goes at once; what follows it waits for the window to fill.
  Time due = flushed_ ? retry_at_ : std::max(last_send_ + rules_.batch_window, retry_at_);
  if (buffer_.empty()) due = std::max(due, *buffer_.next_due());
  if (breaker_.state(host_.now()) == Breaker::State::open) due = std::max(due, breaker_.opens_at());
  return due;
}

std::optional<Reporter::Time> Reporter::progress_due() {
  std::lock_guard lock(mutex_);
  if (progressing_) return std::nullopt;
  const bool hurry = progress_dirty_ && (sender_->wants_progress() || last_progress_.count() == 0);
  if (hurry)
    return flushed_ ? progress_retry_at_
                    : std::max(last_progress_ + rules_.batch_window, progress_retry_at_);
  if (flushed_) return std::nullopt;
  return std::max(last_progress_ + rules_.progress_interval, progress_retry_at_);
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
  const Time due = std::min(status.value_or(Time::max()), progress.value_or(Time::max()));
  timer_.after(std::max(due - host_.now(), Time(0)), [this] { act(); });
}

// A failing peer ends a flush: what waits would not get through in time.
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

// --- what
// -----------------------------------------------------------------------------------------------

void Reporter::send() {
  std::vector<Status> batch;
  {
    std::lock_guard lock(mutex_);
    batch = buffer_.take(rules_.batch_max, batch_bytes_max);
    for (Status& s : batch) s.epoch = progress_.epoch;
  }
  sending_ = true;
  last_send_ = host_.now();
  under_way_ = batch.size();
  if (sender_->wants_progress()) unconfirmed_.sending(batch);
  sender_->send(std::move(batch), [this](Sent s) { sent(std::move(s)); });
}

void Reporter::sent(Sent s) {
  sending_ = false;
  unconfirmed_.ended(!s.failure);
  sent_total_.add(
      static_cast<double>(under_way_ - s.again.size() - s.later.size() - s.refusals.size()));
  for (const auto& r : s.refusals) {
    refused_total_.add();
    host_.warn("a status was refused", {{"kind", r.kind}, {"id", r.id}, {"reason", r.reason}});
  }
  {
    std::lock_guard lock(mutex_);
    buffer_.put_back(std::move(s.again));
    for (auto& [status, wait] : s.later) buffer_.put_off(std::move(status), host_.now() + wait);
  }
  reported(s.failure);
}

void Reporter::send_progress() {
  Progress p;
  {
    std::lock_guard lock(mutex_);
    progress_dirty_ = false;
    p = progress_;
    for (const auto& [kind, at] : applied_) p.kinds.push_back({kind, at});
    add_issues(p);
    if (!delayed_.empty()) p.issues.push_back(delayed());
  }
  progressing_ = true;
  unconfirmed_.asking();
  last_progress_ = host_.now();
  sender_->progress(p, [this](const Result<uint64_t>& r) { progressed(r); });
}

// As many as one message can carry, and how many more there are.
void Reporter::add_issues(Progress& p) const {
  size_t bytes = 0, more = 0;
  for (const auto& [key, issue] : issues_) {
    const std::string reason = shortened(issue.reason, rules_.status_size.text_bytes);
    bytes += key.size() + reason.size() + issue.condition.size() + sizeof issue.version;
    if (bytes > batch_bytes_max) {
      ++more;
      continue;
    }
    p.issues.push_back(issue);
    p.issues.back().reason = reason;
  }
  if (more > 0)
    p.issues.push_back(
        {{}, {}, {}, "issues", 0, "more", std::to_string(more) + " more do not fit a message"});
}

void Reporter::progressed(const Result<uint64_t>& r) {
  progressing_ = false;
  if (!r.ok() && worth_retrying(r.error().code)) {
    last_progress_ = Time(0);  // still to be said: as soon as the backoff lets it, on either wire
    progress_retry_at_ =
        host_.now() + progress_backoff_.next(host_.random(), r.error().retry_after);
    failures_total_.add();
    if (silences_++ == 0)
      host_.warn("the peer does not hear that the agent lives", {{"reason", r.error().message}});
    std::lock_guard lock(mutex_);
    progress_dirty_ = true;
  } else {
    if (silences_ > 0)
      host_.info("the peer hears the agent again", {{"failures", std::to_string(silences_)}});
    silences_ = 0;
    progress_backoff_.reset();
    progress_retry_at_ = Time(0);
    if (r.ok()) {
      refused_for_.clear();
    } else if (std::exchange(refused_for_, r.error().message) != r.error().message) {
      host_.warn("progress was refused", {{"reason", r.error().message}});
    }
    introduced(r.ok() ? *r : 0);
  }
  show_health();
  plan();
}

void Reporter::introduced(uint64_t epoch_taken) {
  introduced_ = true;
  {
    std::lock_guard lock(mutex_);
    if (epoch_taken < progress_.epoch) {
      rise_backoff_.reset();
      return unconfirmed_.confirmed();
    }
  }
  rise_above(epoch_taken);
}

// Whatever was sent since the peer confirmed our epoch may have been ignored.
void Reporter::rise_above(uint64_t epoch_taken) {
  const auto now = host_.now();
  if (!rise_logged_at_ || now - *rise_logged_at_ >= rise_logged_every) {
    rise_logged_at_ = now;
    host_.info("an agent of the region has a greater epoch; ours is raised above it",
               {{"known", std::to_string(epoch_taken)}});
  }
  // Nothing is above the last number: the peer should not have taken it.
  if (epoch_taken == UINT64_MAX) return;
  // Another agent that works rises, too. Who is told so again and again waits longer and longer, so
  // that one of them has its word confirmed and both rest until there is something to say.
  progress_retry_at_ = now + rise_backoff_.next(host_.random());
  std::lock_guard lock(mutex_);
  progress_.epoch = epoch_taken + 1;
  progress_dirty_ = true;
  buffer_.put_back(unconfirmed_.take());
}

// A batch has ended: told to the breaker, logged when trouble begins and ends, and on to the next.
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

// Begins with the breaker's opening, ends when nothing waits any more.
void Reporter::set_delayed(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why.empty() && (delayed_.empty() || !buffer_.empty())) return;
  delayed_ = why;
  progress_dirty_ = true;
}

Issue Reporter::delayed() const {
  const auto state = breaker_.state(host_.now());
  return {{},
          {},
          {},
          "statuses",
          0,
          DAVIT_ISSUE_DELAYED,
          std::to_string(buffer_.size()) + " wait; the breaker is " + word(state) +
              " and has opened " + std::to_string(breaker_.opened()) +
              " times, last for: " + delayed_};
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
    host_.health(DAVIT_HEALTH_DEGRADED, "the control plane does not hear that the agent lives");
  } else {
    host_.health(DAVIT_HEALTH_SERVING);
  }
  std::lock_guard lock(mutex_);
  dropped_total_.add(static_cast<double>(buffer_.dropped() - dropped_told_));
  dropped_told_ = buffer_.dropped();
}

}  // namespace davit::reporter
