// Hub: reports what the agent does not see: as issues of the kind and of the records that wait, in
// the metrics and in the health.
#include <algorithm>

#include "hub.hpp"

namespace davit::applier {

// Acts on watches whose trust has changed since the last look.
void Hub::look(KindState& kind) {
  const auto news = kind.views.look();
  for (const auto& blindness : news.blindness) tell_blindness(kind, blindness);
  for (const size_t i : news.trust) kind.watch_up[i].set(kind.views.trusted(i) ? 1 : 0);
  if (news.gained) sees_again(kind, news.all);
}

void Hub::tell_blindness(KindState& kind, const Views::News::Blindness& news) {
  const std::string& reason = kind.views.reason(news.resource);
  const std::string resource = name_of(kind.resource(news.resource));
  if (news.began) {
    host_.warn("blind: statuses that depend on it are not told, and deletes wait",
               {{"kind", kind.name()}, {"resource", resource}, {"reason", reason}});
  } else if (reason.empty()) {
    host_.info("no longer blind", {{"kind", kind.name()}, {"resource", resource}});
  }
  publisher_->of_kind(kind.name(), resource, DAVIT_ISSUE_BLIND, reason);
  show_health();
  if (!news.began) return;
  // Statuses that do not depend on the blind watch are sent again, so that the server knows that
  // they still hold.
  kind.desired.each([&](RecordEntry& entry) {
    entry.status_offered = 0;
    if (entry.intent == Intent::apply) workers_.add(entry.number, Priority::resync, now());
  });
  for (const uint64_t number : kind.unseen) {
    if (RecordEntry* entry = kind.desired.find(number)) say_delayed(kind, *entry);
  }
}

void Hub::sees_again(KindState& kind, bool all) {
  kind.desired.each([&](RecordEntry& entry) {
    if (std::exchange(entry.withheld, false)) workers_.add(entry.number, Priority::repair, now());
  });
  if (!all) return;
  // Records that have gone while this could not be reported.
  for (const uint64_t number : Departures::left(kind.desired))
    depart(kind, *kind.desired.find(number));
  release_unseen(kind);
  if (kind.departures.waits()) {
    judge(kind);
  } else if (kind.departures.judged()) {
    confirm_gone(kind);
  }
}

void Hub::say_delayed(KindState& kind, RecordEntry& entry) {
  const std::string what = kind.blindness();
  if (entry.intent != Intent::remove || what.empty()) return;
  publisher_->issue(kind.name(), entry, DAVIT_ISSUE_DELAYED,
                    "its delete waits until the agent sees " + what);
}

void Hub::expire_sights() {
  for (auto& kind : kinds_) {
    if (!kind->watching) continue;
    kind->views.expire(now());
    look(*kind);
  }
  plan_sights();
  pump();
}

void Hub::plan_sights() {
  if (stopping_) return;
  std::optional<Sight::Time> next;
  for (const auto& kind : kinds_) {
    const auto due = kind->watching ? kind->views.due() : std::nullopt;
    if (due) next = std::min(next.value_or(*due), *due);
  }
  if (!next) return sight_timer_.cancel();
  sight_timer_.after(std::max(*next - now(), Sight::Time(0)), [this] { expire_sights(); });
}

void Hub::show_health() {
  std::string worst;
  size_t more = 0;
  for (const auto& kind : kinds_) {
    for (size_t i = 0; i < kind->watch_up.size(); ++i) {
      const std::string& reason = kind->views.reason(i);
      if (reason.empty()) continue;
      if (!worst.empty()) {
        ++more;
        continue;
      }
      worst = "blind: " + name_of(kind->resource(i)) + " (" + kind->name() + ") " + reason;
    }
  }
  if (more > 0) worst += " (and " + std::to_string(more) + " more)";
  if (worst == health_) return;
  health_ = worst;
  host_.health(worst.empty() ? DAVIT_HEALTH_SERVING : DAVIT_HEALTH_DEGRADED, worst);
}

}  // namespace davit::applier
