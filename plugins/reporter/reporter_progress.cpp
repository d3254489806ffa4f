// The part of Reporter that sends progress, and that raises the epoch when the peer has heard of
// another agent.
#include "reporter.hpp"

namespace davit::reporter {
namespace {

// Two working agents of a region raise their epochs above each other all the time.
constexpr std::chrono::minutes rise_logged_every{10};

const char* word(Breaker::State state) {
  return state == Breaker::State::closed ? "closed"
         : state == Breaker::State::open ? "open"
                                         : "half-open";
}

}  // namespace

void Reporter::send_progress() {
  Progress p;
  {
    std::lock_guard lock(mutex_);
    progress_dirty_ = false;
    ++progress_.sequence;
    p = progress_;
    for (const auto& [kind, at] : applied_) p.kinds.push_back({kind, at});
    add_issues(p);
    if (!delayed_.empty()) p.issues.push_back(delayed());
  }
  progressing_ = true;
  accepted_.asking();
  last_progress_ = host_.now();
  sender_->progress(p, [this](const Result<Epoch>& r) { progressed(r); });
}

// Adds as many issues as fit into one message, and says how many more there are.
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
        {{}, {}, {}, "issues", {}, "more", std::to_string(more) + " more do not fit a message"});
}

void Reporter::progressed(const Result<Epoch>& r) {
  progressing_ = false;
  if (!r.ok() && worth_retrying(r.error().code)) {
    last_progress_ = never;  // due again as soon as the backoff allows, on either wire
    progress_retry_at_ =
        host_.now() + progress_backoff_.next(host_.random(), r.error().retry_after);
    failures_total_.add();
    if (silences_++ == 0)
      host_.warn("progress cannot be sent to the peer", {{"reason", r.error().message}});
    std::lock_guard lock(mutex_);
    progress_dirty_ = true;
  } else {
    if (silences_ > 0)
      host_.info("progress can be sent to the peer again",
                 {{"failures", std::to_string(silences_)}});
    silences_ = 0;
    progress_backoff_.reset();
    progress_retry_at_ = Time(0);
    if (r.ok()) {
      refused_for_.clear();
    } else if (std::exchange(refused_for_, r.error().message) != r.error().message) {
      host_.warn("progress was refused", {{"reason", r.error().message}});
    }
    introduced(r.ok() ? *r : Epoch());
  }
  show_health();
  plan();
}

void Reporter::introduced(Epoch epoch_taken) {
  introduced_ = true;
  {
    std::lock_guard lock(mutex_);
    if (epoch_taken < progress_.epoch) {
      rise_backoff_.reset();
      return accepted_.confirmed();
    }
  }
  rise_above(epoch_taken);
}

// The peer may have ignored all that was sent since it confirmed our epoch. The other agent may
// have replaced what was sent before.
void Reporter::rise_above(Epoch epoch_taken) {
  const auto now = host_.now();
  if (!rise_logged_at_ || now - *rise_logged_at_ >= rise_logged_every) {
    rise_logged_at_ = now;
    host_.info("an agent of the region has a greater epoch; ours is raised above it",
               {{"known", to_string(epoch_taken)}});
  }
  // No epoch is above this one; the peer should not have accepted it.
  if (epoch_taken == Epoch::max()) return;
  // Another working agent raises its epoch, too. An agent that is told so repeatedly waits longer
  // each time. So one of the two is confirmed in the end, and both rest until something changes.
  progress_retry_at_ = now + rise_backoff_.next(host_.random());
  if (!repeat_from_ || *repeat_from_ <= now)
    repeat_from_ = repeat_from_ ? std::max(now, *repeat_from_ + rules_.repeat_interval) : now;
  std::lock_guard lock(mutex_);
  progress_.epoch = epoch_taken + 1;
  progress_dirty_ = true;
  buffer_.put_back(accepted_.take_unconfirmed());
}

// The issue begins when the breaker opens, and ends when nothing waits any more.
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
          Version(),
          DAVIT_ISSUE_DELAYED,
          std::to_string(buffer_.size()) + " wait; the breaker is " + word(state) +
              " and has opened " + std::to_string(breaker_.opened()) +
              " times, last for: " + delayed_};
}

}  // namespace davit::reporter
