// Publication: decides what is said of a record after a reconciliation: its issue, and its status.
// It stands between the hub and the status publisher. Pure.
#pragma once

#include <optional>
#include <string>

#include <davit/types.hpp>

#include "reconciliation.hpp"
#include "record_entry.hpp"

namespace davit::applier {

struct Publication {
  // An empty condition ends the record's issue.
  struct RecordIssue {
    std::string condition, reason;
  };
  std::optional<RecordIssue> issue;  // nullopt: it stays as it is
  std::optional<Status> status;      // nullopt: nothing new is known, or it is withheld
  // Whether a status is withheld because a watch that it depends on cannot be trusted. nullopt: as
  // before.
  std::optional<bool> withheld;
  // The watches have become complete since the reconciliation began: another one can tell.
  bool look_again = false;
};

// What the hub knows at the end of a reconciliation, beside its report.
struct Circumstances {
  bool failing = false;   // it has failed, and so have several before it
  bool lives = false;     // the record's id belongs to a live record, under whatever name
  bool sees = false;      // the watches that the status depends on can be trusted now
  std::string contested;  // who keeps changing the record's objects; empty: nobody
};

// `entry` is as the reconciliation has left it, and wants what it was made for.
Publication publication(const Report& report, const RecordEntry& entry, const Circumstances& now);

}  // namespace davit::applier
