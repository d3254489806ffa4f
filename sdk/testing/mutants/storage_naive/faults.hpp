// The values of the setting `fault`.
#pragma once

#include <set>
#include <string>

namespace davit::storage_naive {

inline std::set<std::string> known_faults() {
  return {"",                // no fault
          "late",            // takes its numbers before it commits, as a sequence in SQL does
          "halves",          // a group that fails keeps the mutations before the failure
          "ignores_expect",  // the last writer wins
          "forgets_requests",
          "keeps_children",  // keeps the children of earlier reports
          "takes_old_status",
          "no_purge_mark",  // does not know that it has purged
          "any_cursor",     // accepts a cursor of any incarnation
          "any_status_cursor",
          "any_history",     // its history contains versions that it has not given
          "no_incarnation",  // does not say in which incarnation it has committed
          "whole_pages",     // ignores bytes_max
          "whole_status_pages",
          "agents_of_any_region",
          "agents_by_name",  // forgets the region of the agent that a page begins after
          "one_watch",       // a watch ends the one before it
          "ends_all_watches",
          "ends_late",  // a watch that has ended hears one more hint
          "end_does_not_wait",
          "no_status_hint",
          "cuts_ids",       // keeps the first 200 bytes of an id
          "signs_numbers",  // has 31 bits for a sequence
          "signs_incarnations",
          "half_json",
          "half_statuses",  // a report that is given up leaves statuses without their children
          "hides_names",    // a name that is taken over goes without a new version
          "renames",        // lets a record change its name
          "leaves_out_lingering",
          "leaves_out_unheard",     // leaves out deleted records that have no status
          "takes_an_earlier_gone",  // counts a gone of the time before the record lived again
          "takes_lost_status",      // accepts a status of a version above the record's
          "takes_foreign_status",   // accepts a status of another history
          "forgets_who_came_back",
          "never_cancelled",        // looks at neither cancellation nor deadline
          "cancels_halfway",        // answers CANCELLED and keeps what it has changed
          "leaves_open",            // a commit that is given up leaves its transaction open
          "cancels_others",         // who gives up ends the reads of others, too
          "any_flags",              // ignores critical flags that it does not know
          "known_flags",            // refuses hints that it does not know
          "reads_reserved",         // gives a reserved member a meaning
          "purge_leaves_names",     // a purged record is still found by its name
          "finds_the_live",         // finds no deleted record by its name
          "one_query",              // answers the first of several queries
          "never_stops",            // a look-up goes on when its visitor has stopped
          "no_payload_no_name",     // leaves out more than the payload
          "forgets_the_visitor",    // says that there is no more when a visitor has stopped
          "nameless_statuses",      // forgets the namespace and name of a status
          "loads_new_versions",     // a copy gets versions of its own
          "goes_on_as_the_source",  // a copy begins no incarnation
          "forgets_the_source",     // a copy knows no incarnation of its source
          "keeps_strays",           // a copy has statuses of no record
          "reads_nothing"};         // and yet says that it has read up to the head
}

}  // namespace davit::storage_naive
