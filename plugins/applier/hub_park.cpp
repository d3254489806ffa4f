// Hub: records that cannot be applied: when a record is parked, and when it is tried again.
#include "hub.hpp"

namespace davit::applier {
namespace {

// A fingerprint of what people and agents have set in the record's objects. A trip computes the
// same of its copies.
uint64_t grounds_of(const KindState& kind, const Slot& slot) {
  uint64_t out = 0;
  for (const ObservedObject* o : slot.objects) {
    if (kind.owned(*o)) out += fingerprint_of_wishes(*o->text);
  }
  return out;
}

}  // namespace

// An API server that has just started may refuse a right that the account has. So a refused right
// parks the record only when it has been refused for `right_patience`, or when the record is parked
// already.
void Hub::judge_refusal(const Slot& slot, Report& report) const {
  if (report.end != Report::End::retry || !report.right_refused) return;
  const bool lasts =
      slot.refused_since.count() > 0 && now() - slot.refused_since >= shop_->rules.right_patience;
  if (lasts || slot.state == Slot::State::parked || shop_->rules.right_patience.count() == 0)
    report.end = Report::End::parked;
}

void Hub::note_refusal(Slot& slot, const Report& report) {
  if (report.end == Report::End::looked) return;
  if (!report.right_refused) {
    slot.refused_since = {};
  } else if (slot.refused_since.count() == 0) {
    slot.refused_since = now();
  }
}

void Hub::park(Slot& slot, const Report& report) {
  slot.state = Slot::State::parked;
  slot.parked = report.why;
  slot.parked_until = now() + shop_->rules.parked_retry;
  if (slot.park_backoff.failures() == 0) slot.park_backoff = Backoff(shop_->rules.repairs.wait);
  slot.parked_at_least_until =
      std::min<Queue::Time>(slot.parked_until, now() + slot.park_backoff.next(host_.random()));
  slot.parked_on = report.parked_on;
  slot.parked_grounds = report.grounds;
}

// Ends the park when somebody has changed one of the record's objects since, perhaps the one that
// it is parked for.
void Hub::end_park_on_change(const KindState& kind, Slot& slot) const {
  if (slot.state != Slot::State::parked || now() < slot.parked_at_least_until) return;
  if (now() < slot.parked_until && grounds_of(kind, slot) != slot.parked_grounds)
    slot.parked_until = now();
}

// When a parked record is looked at next at the latest.
Queue::Time Hub::next_look(const Slot& slot) const {
  return now() < slot.parked_at_least_until ? slot.parked_at_least_until : slot.parked_until;
}

// The watch of what the records are parked for works again: the definition may be installed by now,
// or another API server may answer.
void Hub::try_parked_again(KindState& kind, uint32_t watch) {
  kind.desired.each([&](Slot& slot) {
    if (slot.state != Slot::State::parked || slot.parked_on != watch) return;
    slot.parked_until = std::max(now(), slot.parked_at_least_until);
    queue_.add(slot.number, Band::resync, slot.parked_until);
  });
}

void Hub::count_parked(Slot& slot) {
  const bool parked = slot.state == Slot::State::parked;
  if (parked == slot.counted_parked) return;
  slot.counted_parked = parked;
  parked_ += parked ? 1 : -1;
  parked_gauge_.set(static_cast<double>(parked_));
}

}  // namespace davit::applier
