#include "publication.hpp"

#include <davit/issues.hpp>

namespace davit::applier {
namespace {

using RecordIssue = Publication::RecordIssue;

std::optional<RecordIssue> issue_after(const Report& report, const RecordEntry& entry,
                                       const Circumstances& now) {
  if (entry.state == RecordEntry::State::parked)
    return RecordIssue{DAVIT_ISSUE_PARKED, entry.parking.reason()};
  if (report.end == Report::End::held)
    return RecordIssue{DAVIT_ISSUE_HELD, std::string(entry.payload.view())};
  if (now.failing && report.delayed) return RecordIssue{DAVIT_ISSUE_DELAYED, report.why};
  if (report.delayed) return std::nullopt;
  return RecordIssue{now.contested.empty() ? "" : issues::contested, now.contested};
}

}  // namespace

Publication publication(const Report& report, const RecordEntry& entry, const Circumstances& now) {
  Publication out;
  out.issue = issue_after(report, entry, now);
  // A held record's status is not ours to report.
  if (report.end == Report::End::held && entry.state != RecordEntry::State::parked) return out;
  // Statuses are by id. A record that lives under another name is not gone because the objects of
  // this name go.
  if (entry.intent == Intent::remove && now.lives) {
    out.withheld = false;  // nothing is to be said of it any more
    return out;
  }
  if (report.end == Report::End::retry && !now.failing) return out;  // nothing new is known yet
  if (!report.status) return out;
  out.withheld = !report.seen || !now.sees;
  if (*out.withheld) {
    out.look_again = now.sees;
    return out;
  }
  out.status = report.status;
  // A record is reported as gone when nothing is left to do, not when the last delete was only
  // requested.
  if (entry.intent != Intent::remove || report.end != Report::End::done) out.status->gone = false;
  if (now.failing) out.status->message = "retrying: " + report.why;
  return out;
}

}  // namespace davit::applier
