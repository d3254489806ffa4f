#include "election.hpp"

#include <algorithm>

namespace davit::leader {
namespace {

// Whether the holder has given no sign of life. Anybody may change labels and the like, so they do
// not count.
bool same_record(const Lease& a, const Lease& b) {
  return a.holder == b.holder && a.renew_time == b.renew_time && a.transitions == b.transitions;
}

}  // namespace

Step Election::next(Time now, int64_t now_unix_ms) {
  if (!lost_.empty()) return {.what = Step::What::lost, .until = now, .why = lost_};
  const Time give_up = renewed_at_ + rules_.renew_deadline;
  if (leading_ && now >= give_up) {
    return {.what = Step::What::lost,
            .until = renewed_at_ + rules_.duration,
            .why = "it could not be renewed for " + std::to_string(rules_.renew_deadline.count()) +
                   " ms"};
  }
  if (busy_ || now < due_) {
    const Time due = busy_ ? Time::max() : due_;
    return {.until = leading_ ? std::min(due, give_up) : due};
  }
  busy_ = true;
  sent_at_ = now;
  return wanted_ ? write(now_unix_ms) : Step{.what = Step::What::look};
}

Step Election::write(int64_t now_unix_ms) const {
  Step step{.what = Step::What::write, .lease = lease_, .acquires = !leading_};
  step.lease.holder = identity_;
  step.lease.duration = rules_.duration;
  if (leading_) return step;
  if (!lease_.resource_version.empty() && lease_.holder != identity_) ++step.lease.transitions;
  // Higher than the epochs that processes without a Lease take from their clocks, as far as clocks
  // agree.
  step.lease.epoch = std::max(Epoch(static_cast<uint64_t>(std::max<int64_t>(now_unix_ms, 0))),
                              lease_.epoch.next());
  return step;
}

void Election::saw(Time now, const std::optional<Lease>& lease) {
  busy_ = false;
  const Lease found = lease.value_or(Lease{});
  if (leading_ && found.holder != identity_) {
    lost_ = !lease                 ? "it was deleted"
            : found.holder.empty() ? "it was taken away"
                                   : "\"" + found.holder + "\" holds it";
  }
  if (!seen_ || !same_record(found, lease_)) changed_at_ = now;
  seen_ = true;
  lease_ = found;
  const Time expires =
      changed_at_ + (found.duration.count() > 0 ? found.duration : rules_.duration);
  wanted_ = found.holder.empty() || found.holder == identity_ || now >= expires;
  due_ = wanted_ ? now : std::min(now + rules_.retry, expires);
}

void Election::wrote(Time now, const Lease& lease) {
  busy_ = false;
  seen_ = wanted_ = leading_ = true;
  lease_ = lease;
  changed_at_ = now;
  renewed_at_ = sent_at_;
  due_ = now + rules_.retry;
}

void Election::failed(Time now) {
  busy_ = wanted_ = false;
  due_ = now + rules_.retry;
}

std::optional<Lease> Election::release() const {
  if (!leading_ || !lost_.empty() || busy_) return std::nullopt;
  Lease out = lease_;
  out.holder.clear();
  return out;
}

}  // namespace davit::leader
