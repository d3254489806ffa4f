#!/usr/bin/env python3
"""Plants bugs, one after the other, and sees that the simulation finds each: `bugs.py --build DIR [NAME...]`.

A bug is a plugin's source with a line or two changed, compiled and linked as the build does it, beside the build. Each
breaks one rule of the design. A line that is no longer there, or is there twice, is a fault of this list.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SEEDS = 200  # of which one has to find it


@dataclass
class Bug:
    name: str
    plugin: str
    source: str
    rule: str  # that it breaks
    edits: tuple  # of (what stands there, what is put in its place)
    scene: str = ""  # where it shows; else any


# The wire: cursors, snapshots, bookmarks, holds.
WIRE = (
    Bug("cursor_passes_what_is_under_way", "watcher", "position_tracker.cpp",
        "a cursor is the highest version such that it and all before it are applied, held or parked",
        (("if (!outstanding_.empty()) version", "if (false) version"),)),
    Bug("snapshot_commits_before_its_end", "watcher", "position_tracker.cpp",
        "in a snapshot nothing is committed before its bookmark",
        (("  snapshot_ = snapshot;\n", "  snapshot_ = false;\n"),), "restored"),
    Bug("void_position_is_kept", "watcher", "position_tracker.cpp",
        "a position that is void is answered with a snapshot",
        (("  committed_ = {};\n  sent_ = {};\n  through_ = {};\n", ""),), "restored"),
    Bug("begin_is_told_once", "streamer", "pager.cpp",
        "an open stream is told of each incarnation that the store begins",
        (("  if (begun_ == at.incarnation) return;\n", "  if (begun_) return;\n"),), "reopened"),
    Bug("snapshot_says_a_wrong_count", "streamer", "pager.cpp",
        "the bookmark that ends a snapshot says how many live records it named",
        (("std::exchange(live_count_, {}).total()", "std::exchange(live_count_, {}).total() + 1"),)),
    Bug("snapshot_leaves_out_who_lingers", "streamer", "stream_fetch.cpp",
        "a dead record is named until its status says gone",
        (("page_bytes,\n                                               true}",
          "page_bytes,\n                                               false}"),)),
    Bug("paused_is_sent", "streamer", "classifier.cpp",
        "a paused record is named and not sent",
        (("  if (paused(r)) {\n", "  if (false) {\n"),)),
    Bug("ring_forgets", "streamer", "ring.cpp",
        "every change reaches the agent",
        (("  bytes_ += change.bytes();\n  order_",
          "  if (change.version.value() % 16 == 0) return;\n  bytes_ += change.bytes();\n  order_"),)),
    Bug("failed_read_moves_the_tailer", "streamer", "feed.cpp",
        "a cursor never passes what was not read",
        (("  if (!page.ok()) return page.error();\n  batch",
          "  if (!page.ok()) { auto h = storage_.head(); if (!h.ok()) return h.error();"
          " batch.page = {false, h->head.version, *h}; return batch; }\n  batch"),)),
    Bug("old_pages_are_kept", "streamer", "page_cache.cpp",
        "an agent that comes back is never shown an old picture",
        (("  changed_[topic] = change.version;\n", "  if (change.version > 0) return;\n"),)),
    Bug("ctrl_snapshot_leaves_out_the_dead", "streamer", "streamer.cpp",
        "a peer without bookmarks is told of the dead, for nothing else tells it",
        (("ctrl_bookmarks, false, true, close", "ctrl_bookmarks, false, false, close"),), "ctrl"),
)

# The store.
STORE = (
    Bug("page_reaches_beyond_what_was_read", "storage_sqlite", "records.cpp",
        "once a reader has seen a version, none at or below it appears",
        (("if (!page.more) page.next_version = head;", "if (!page.more) page.next_version = head + 1;"),)),
    Bug("other_history_is_not_noticed", "storage_sqlite", "records.cpp",
        "a cursor is valid only up to where its incarnation ended",
        (("chain.accept(q.cursor, head);", "chain.accept({}, head);"),), "restored"),
    Bug("purge_mark_is_not_checked", "storage_sqlite", "records.cpp",
        "below the purge mark is an error",
        (("above_purge_mark(q.cursor.version, ", "above_purge_mark({}, "),), "plain"),
    Bug("request_is_carried_out_twice", "storage_sqlite", "commit.cpp",
        "repeating a request changes nothing",
        (("repeated(group.request_id, result.error)", "repeated({}, result.error)"),
         ("INSERT INTO requests", "INSERT OR REPLACE INTO requests"))),
    Bug("older_status_wins", "storage_sqlite", "statuses.cpp",
        "of two statuses the older is ignored",
        (("if (!newer && is_possible_epoch(", "if (false && is_possible_epoch("),)),
    Bug("status_of_a_lost_store_is_taken", "storage_sqlite", "statuses.cpp",
        "a status of what a restored store has lost is ignored",
        (("if (s.observed_version > Version(record.number(0))) return false;", ""),
         ("!read_at.incarnation || chain", "true || chain")), "restored"),
    Bug("status_of_another_history_is_taken", "storage_sqlite", "statuses.cpp",
        "a status of a version that a restored store has given again is ignored",
        (("!read_at.incarnation || chain", "true || chain"),), "restored"),
)

# The agent: applying, holding, pruning.
AGENT = (
    Bug("failure_passes_for_success", "applier", "reconciliation.cpp",
        "a transient failure is retried and holds the cursor",
        (("  retry(std::move(why), r.retry_after);\n}", "  finish(Report::End::done);\n}"),)),
    Bug("throttled_is_refused", "applier", "meaning.cpp",
        "only what can never succeed is parked",
        (("    case 429:\n      return Meaning::retry;", "    case 429:\n      return Meaning::refused;"),)),
    Bug("parked_holds_the_cursor", "applier", "hub_work.cpp",
        "what is parked stands in nobody's way",
        (("  settle(kind, entry, outcome_of(report.end));",
          "  if (report.end != Report::End::parked) settle(kind, entry, outcome_of(report.end));"),)),
    Bug("parked_is_never_tried_again", "applier", "hub_work.cpp",
        "what is parked is tried again, slowly",
        (("entry.state == RecordEntry::State::parked && entry.parking.holds(now);", "entry.state == RecordEntry::State::parked;"),)),
    Bug("held_is_worked_on", "applier", "reconciliation.cpp",
        "a hold says: do not touch this object",
        (("  if (task_.intent == Intent::hold) return finish(Report::End::held);\n", ""),)),
    Bug("holds_are_not_counted", "applier", "record_table.cpp",
        "a held record is a live one",
        (("named_now(*entry) && wanted(*entry)", "named_now(*entry) && entry->intent == Intent::apply"),)),
    Bug("drift_is_left", "applier", "drift.cpp",
        "drifted objects are repaired",
        ((" && applied->projected == content.projected;", ";"),)),
    Bug("edit_that_spoils_our_apply_is_left", "applier", "reconciliation_take_over.cpp",
        "what others put beside our fields is no obstacle",
        (("return refused_by_validation(refusal) && ", "return refusal.http_status == 0 && "),)),
    Bug("missing_is_left", "applier", "drift.cpp",
        "missing objects are made again",
        (("  if (same && presence == ObjectState::Presence::unseen) return",
          "  if (same && presence != ObjectState::Presence::absent) return"),)),
    Bug("vanished_in_a_gap_is_kept", "applier", "observed.cpp",
        "what a watch's new picture does not show is gone",
        (("if (object.watch != watch || !picture.lost(object.mark, object.resource_version)) {", "if (true) {"),)),
    Bug("other_region_is_taken_over", "applier", "ownership.cpp",
        "an object with another region's label is never touched",
        (("  if (differs(meta.region, claim.region)) {", "  if (false) {"),)),
    Bug("delete_without_preconditions", "applier", "reconciliation_remove.cpp",
        "a delete carries uid and resource version",
        (('{"propagationPolicy", propagation},\n                                        '
          '{"preconditions", std::move(preconditions)}});', '{"propagationPolicy", propagation}});'),)),
    Bug("prune_takes_what_was_named", "applier", "departures.cpp",
        "only what a snapshot did not name is pruned",
        (("    if (desired.named_now(entry)) return;\n", ""),)),
    Bug("other_history_is_pruned_by", "applier", "prune.cpp",
        "what was made in another history of the store is not pruned",
        (("    if (!end.history.empty() && !knows(end.history, at))\n", "    if (false)\n"),), "restored"),
    Bug("asks_with_what_is_committed", "watcher", "stream.cpp",
        "a store that has lost what it had sent is noticed",
        (("dialect_.bookmarks ? tracker_.received() : tracker_.committed()", "tracker_.committed()"),), "restored"),
    Bug("stamp_of_a_lost_store_is_kept", "applier", "ownership.cpp",
        "what the store names again is of its history",
        (("  if (known.history == nullptr || known.history->empty()) return true;\n", "  return true;\n"),), "restored"),
    Bug("prune_takes_all_at_once", "applier", "prune.cpp",
        "never more than a share is pruned at once",
        (("  if (removable.size() > rules.always_allowed &&\n", "  if (false &&\n"),), "plain"),
    Bug("statuses_are_not_told_again", "applier", "hub.cpp",
        "another store is told everything once more",
        (("  if (begin.snapshot || other)\n", "  if (false)\n"),), "restored"),
    Bug("lingering_record_is_forgotten", "applier", "departures.cpp",
        "of a dead record of which nothing is left gone is said",
        (("    if (entry != nullptr && entry->id == record.id && !left_behind(*entry)) continue;", "    continue;"),)),
    Bug("death_without_a_name_is_not_heard", "applier", "departures.cpp",
        "the death of a record whose name another one has taken is heard by its id",
        (("  deleted_.push_back({change", "  if (!before) return true;\n  deleted_.push_back({change"),)),
    Bug("successor_hides_the_dead", "applier", "hub_work.cpp",
        "a record that is dead is gone once its object is another record's",
        (("    report_gone(kind, kind.departures.replaced(entry, kind.desired));\n", "    {}\n"),)),
    Bug("unnamed_predecessor_is_not_dead", "applier", "departures.cpp",
        "a record that a complete snapshot does not name is gone for each agent that spoke of it",
        (("  if (std::exchange(unnamed_are_deleted_, false)) add_unnamed(desired, out);\n", ""),), "rivals"),
    Bug("lingering_record_is_deleted", "applier", "departures.cpp",
        "what was dead when the snapshot began is judged as what it does not name",
        (("  if (!before && desired.restore_name(change)) return false;\n",
          "  if (desired.restore_name(change)) return false;\n"),), "restored"),
    Bug("issue_outlives_its_record", "applier", "status_publisher.cpp",
        "an issue ends with the record that it was told of",
        (("entry.issue_id != entry.id && ", "false && "),), "restored"),
    Bug("unseen_is_told", "applier", "publication.cpp",
        "what is not seen is not told",
        (("  out.withheld = !report.seen || !now.sees;", "  out.withheld = false;"),), "ctrl"),
    Bug("first_picture_is_not_waited_for", "applier", "sight.cpp",
        "what is not seen is not told, of what a watch is still showing, either",
        (("  trouble(\"its first picture has not come\", now);\n",
          "  trouble(\"its first picture has not come\", now);\n  whole_ = true;\n"),), "ctrl"),
    Bug("blindness_is_not_told", "applier", "hub_sight.cpp",
        "an agent says that it cannot see a resource",
        (("  publisher_->of_kind(kind.name(), resource, DAVIT_ISSUE_BLIND, reason);",
          "  if (reason.empty()) publisher_->of_kind(kind.name(), resource, DAVIT_ISSUE_BLIND, reason);"),), "plain"),
    Bug("blindness_is_told_for_ever", "applier", "hub_sight.cpp",
        "an agent that sees a resource again says so",
        (("  publisher_->of_kind(kind.name(), resource, DAVIT_ISSUE_BLIND, reason);",
          "  if (!reason.empty()) publisher_->of_kind(kind.name(), resource, DAVIT_ISSUE_BLIND, reason);"),), "plain"),
    Bug("cut_is_never_blindness", "applier", "sight.cpp",
        "what a watch that has been cut for long has shown is not relied on",
        (("  if (troubled_ && now - since_.at >= patience_) blind_ = true;\n", "  if (now < since_.at) blind_ = true;\n"),),
        "plain"),
    Bug("delete_by_others_waits_for_the_resync", "applier", "hub_observe.cpp",
        "what somebody has deleted is made again when that is seen",
        (("    for (RecordEntry* entry : had) touch(kind, *entry);\n", ""),)),
    Bug("pods_of_an_edit_stay", "kind_deployment", "edited.cpp",
        "pods that were made of an edited template are replaced",
        (("  if (found.none()) return there.hash;\n", "  if (true) return there.hash;\n"),)),
    Bug("all_pods_at_once", "kind_deployment", "rollout.cpp",
        "a rollout leaves all pods but one serving",
        (("  int64_t places = pace.max_unavailable - in_flight;\n", "  int64_t places = there.stale - 0 * in_flight;\n"),
         ("there.ready - (replicas - pace.max_unavailable)", "there.ready"),
         ("there.available - (replicas - pace.max_unavailable)", "there.available"))),
)

# The agent: reporting, and one of two.
REPORTS = (
    Bug("failed_report_is_forgotten", "reporter", "reporter.cpp",
        "a report that fails is sent again",
        (("    buffer_.put_back(std::move(s.again));\n", ""),)),
    Bug("older_report_stays", "reporter", "buffer.cpp",
        "the latest status of a key wins",
        (("    *it->second = std::move(status);\n", ""),)),
    Bug("breaker_never_probes_again", "reporter", "breaker.cpp",
        "the breaker is open for its time only",
        (("  ++opened_;\n  probing_ = false;\n", "  ++opened_;\n"),)),
    Bug("lease_is_taken_early", "leader", "election.cpp",
        "of two agents one works",
        (("found.holder.empty() || found.holder == identity_ || now >= expires;", "true;"),), "pair"),
    Bug("lost_lease_is_ignored", "leader", "leader.cpp",
        "who has lost the Lease ends",
        (("    host_.shutdown(reason, step.until);\n", ""),), "pair"),
    Bug("epoch_follows_the_clock", "leader", "election.cpp",
        "a later leader's epoch is higher, whatever the clocks say",
        (("                              lease_.epoch.next());", "                              Epoch());"),), "pair"),
    Bug("epoch_of_a_slow_clock_is_kept", "reporter", "reporter_progress.cpp",
        "an agent whose epoch is below one that is known takes a higher one",
        (("    if (epoch_taken < progress_.epoch) {\n", "    if (epoch_taken < Epoch::max()) {\n"),), "plain"),
)

# Operators that race for one record, and changes that race with the work on them.
RACES = (
    Bug("expected_version_is_not_checked", "storage_sqlite", "commit.cpp",
        "of two operators that give the same expected version at most one wins",
        (("storage::unmet(m, before.version, chain_, first_ - 1)", "std::optional<Error>()"),)),
    Bug("change_expects_nothing", "desired", "decision.cpp",
        "a change is made of the version that it was judged by",
        (("          Version(),\n          Mutation{wanted, stored->version}",
          "          Version(),\n          Mutation{wanted, any_version}"),)),
    Bug("lost_race_is_called_done", "desired", "mutations.cpp",
        "what an operator is told was done is in the store",
        (("  if (result.error) return refused_by_store",
          "  if (result.error && result.error->code != Code::aborted) return refused_by_store"),)),
    Bug("newer_change_is_dropped_while_worked_on", "applier", "hub_work.cpp",
        "a change that comes while its record is worked on is worked on next",
        (("  const auto rest = rest_after(kind, entry, report);\n",
          "  const auto rest = rest_after(kind, entry, report);\n"
          "  if (!current) { workers_.done(entry.number, now() + rest); workers_.forget(entry.number); return; }\n"),)),
    Bug("newer_change_passes_for_done", "applier", "hub_work.cpp",
        "what a reconciliation has done is said of the version that it was made for",
        (("  const bool current = entry.version == report.version && entry.incarnation == report.incarnation &&\n"
          "                       entry.intent == report.intent;", "  const bool current = true;"),)),
    Bug("repairs_wait_for_the_resync", "applier", "hub_observe.cpp",
        "what somebody has changed is put right when it is seen",
        (("    workers_.add(entry.number, Priority::repair, now());\n    return;", "    return;"),)),
    Bug("change_waits_before_it_is_worked_on", "applier", "hub.cpp",
        "a change is in the cluster within seconds while nothing is wrong",
        (("accepted.work ? Priority::change : Priority::resync, now());",
          "accepted.work ? Priority::change : Priority::resync, now() + std::chrono::seconds(10));"),)),
    Bug("rollout_does_not_wait_for_min_ready", "kind_deployment", "rollout.cpp",
        "a rollout leaves all pods but one ready for min_ready_s",
        (("  return pod.ready() && until_available(pod, pace) == 0;", "  return pod.ready();"),), "ctrl"),
    Bug("rollout_takes_one_more", "kind_deployment", "reconcile.cpp",
        "a rollout never has fewer pods ready than max_unavailable allows",
        (("site.max_unavailable + surge)", "site.max_unavailable + surge + 1)"),), "ctrl"),
    Bug("pods_that_start_count_as_serving", "kind_deployment", "rollout.cpp",
        "a rollout leaves all pods but one serving",
        (("  return pod.ready() && until_available(pod, pace) == 0;", "  return until_available(pod, pace) == 0;"),
         ("there.ready - (replicas - pace.max_unavailable)", "there.ready"),
         ("there.available - (replicas - pace.max_unavailable)", "there.available"))),
)

# Two agents of a region without a Lease, and another region that has the same names.
RIVALS = (
    Bug("fence_is_dropped", "applier", "drift.cpp",
        "what was made of a later version is left alone",
        (("  return made_later(made_of, known) ? Drift::made_later : Drift::none;\n", "  return Drift::none;\n"),),
        "rivals"),
    Bug("fence_is_for_deletes_alone", "applier", "drift.cpp",
        "no apply takes back what was made of a later version",
        (("  if (fenced != Drift::none) return fenced;\n", ""),), "rivals"),
    Bug("what_is_unknown_is_older", "applier", "ownership.cpp",
        "an object of an incarnation that nobody has explained yet is left alone",
        (("  if (!it || !known.stream ||", "  if (it || !known.stream ||"),), "rivals"),
    Bug("a_word_on_its_way_counts", "applier", "foreign_incarnations.cpp",
        "only what the server says after an object was seen explains its incarnation",
        (("constexpr std::chrono::seconds on_its_way{15};", "constexpr std::chrono::seconds on_its_way{0};"),), "rivals"),
    Bug("tail_tells_no_history", "streamer", "stream.cpp",
        "a stream that goes on says which incarnations have come since its cursor's",
        (("history = shared_.feed.history_since(part.came_from);", "history.clear();"),), "rivals"),
    Bug("owner_is_not_asked_for", "applier", "drift.cpp",
        "before an apply the object itself is asked whose it is",
        (("  if (!owner.empty()) return Drift::foreign;\n", ""),),
        "rivals"),
    Bug("apply_is_of_any_state", "applier", "reconciliation_apply.cpp",
        "an apply is of exactly the state that was judged",
        (("  metadata[\"resourceVersion\"] =\n"
          "      current_.resource_version.empty() ? version_of_none : current_.resource_version;\n", ""),), "rivals"),
    Bug("owner_is_not_named", "applier", "reconciliation_own.cpp",
        "who has another's object is told whose it is",
        (('object + " belongs to " + owner);', 'object + " is not ours");'),), "rivals"),
    Bug("epoch_of_another_does_not_count", "recorder", "epochs.cpp",
        "who is not above the epoch of a second agent, which has ended, is told so",
        (("  return it->second.epoch >= said.epoch ? it->second.epoch : Epoch();",
          "  return it->second.agent == said.agent && it->second.epoch >= said.epoch ? it->second.epoch : Epoch();"),), "rivals"),
    Bug("accepted_statuses_are_not_sent_again", "reporter", "reporter_progress.cpp",
        "what another agent has said over ours is said again",
        (("  if (!repeat_from_ || *repeat_from_ <= now)\n", "  if (now == Time(0))\n"),), "rivals"),
    Bug("rivals_rise_for_ever", "reporter", "reporter_progress.cpp",
        "two agents that both work come to rest",
        (("  progress_retry_at_ = now + rise_backoff_.next(host_.random());\n", ""),), "rivals"),
)

# Federation, and what is shared with other controllers.
FEDERATION = (
    Bug("deletes_without_seeing", "federation", "decide.cpp",
        "nothing is deleted unless both watches are complete",
        (("  if (!p.upstream_complete)\n", "  if (false)\n"), ("  if (!p.downstream_complete)\n", "  if (false)\n")),
        "federation"),
    Bug("delete_of_whatever_is_there", "federation", "syncer_requests.cpp",
        "a delete carries uid and resource version",
        (('        {"preconditions",\n         {{"uid", look.action.uid}, {"resourceVersion", look.action.resource_version}}}});',
          '    });'),), "federation"),
    Bug("update_is_of_any_state", "federation", "content.cpp",
        "every write names the resource version that it is based on",
        (("  json::object& meta = kubernetes::object_made(out, \"metadata\");\n  for (",
          "  json::object& meta = kubernetes::object_made(out, \"metadata\");\n  meta.erase(\"resourceVersion\");\n  for ("),),
        "federation"),
    Bug("status_is_of_any_state", "federation", "content.cpp",
        "every write names the resource version that it is based on",
        (("  out[\"status\"] = std::move(status);\n",
          "  out[\"status\"] = std::move(status);\n"
          "  kubernetes::object_made(out, \"metadata\").erase(\"resourceVersion\");\n"),), "federation"),
    Bug("relist_empties_the_cache", "federation", "controller/object_cache.cpp",
        "what is being listed anew is not known to be absent",
        (("      unreadable_ = 0;\n      if (state_", "      objects_.clear();\n      if (false && state_"),),
        "federation"),
    Bug("answer_brings_back_what_has_gone", "federation", "controller/object_cache.cpp",
        "the answer to a write does not bring back an object that has gone",
        (("  if (it == objects_.end() || it->second.uid != own.held.uid) return;\n",
          "  if (it == objects_.end()) { own.held.mark = picture_.begin(); objects_[own.key] = std::move(own.held); return; }\n"),), "federation"),
    Bug("not_installed_is_empty", "federation", "controller/object_cache.cpp",
        "a resource that is not installed is not known to have no objects",
        (("  if (version.empty()) {", "  if (false) {"),), "federation"),
    Bug("vanished_in_a_gap_stays", "federation", "controller/object_cache.cpp",
        "what a new list does not name is gone",
        (("    if (!picture_.lost(it->second.mark, it->second.resource_version)) {", "    if (true) {"),), "federation"),
    Bug("unread_are_not_looked_at", "federation", "syncer.cpp",
        "what could not be decided is looked at when the watches are complete",
        (("        queue_.add(key, std::max(now(), end.caught_up));\n", "        (void)key;\n"),), "federation"),
    Bug("no_rest_after_a_failure", "federation", "controller/keyed_queue.cpp",
        "after a failure a key rests, and longer each time",
        (("now + backoff.next(random, retry_after));", "now + std::chrono::milliseconds(20) + 0 * backoff.next(random, retry_after));"),),
        "federation"),
    Bug("event_ends_the_rest", "federation", "controller/queue.cpp",
        "no storm of events is a storm of requests",
        (("    at = std::max(at, e.rest_until);\n", ""),), "federation"),
    Bug("early_observed_generation", "federation", "decide.cpp",
        "observedGeneration equals the generation only if downstream has observed upstream's spec",
        (("  const bool seen = in_step && ", "  const bool seen = "),), "federation"),
    Bug("generation_is_copied", "federation", "decide.cpp",
        "observedGeneration is translated",
        (("    if (rules.map_generation) map_generation(", "    if (false) map_generation("),), "federation"),
    Bug("absent_status_wipes", "federation", "decide.cpp",
        "a status that is absent downstream says nothing",
        (("p.hidden || from == nullptr) return {};", "p.hidden) return {};"),
         ("    status = *from;", "    status = from == nullptr ? json::value(json::object()) : *from;")), "federation"),
    Bug("siblings_are_lost", "federation", "decide.cpp",
        "a subtree of the status goes up alone",
        (("    status = to == nullptr ? json::object() : to->get_object();", "    status = json::object();"),), "federation"),
    Bug("former_is_taken_for_the_new", "federation", "decide.cpp",
        "an object that was made anew upstream is another object",
        (("  if (rules.match_uid && of_another)", "  if (false)"),), "federation"),
    Bug("status_of_the_former", "federation", "decide.cpp",
        "no status of a former object goes up",
        (("  if (rules.match_uid && made_of(*p.downstream) != uid_of(*p.upstream))", "  if (false)"),
         ("  if (rules.match_uid && of_another)", "  if (rules.match_uid && of_another && !terminating(*p.downstream))")), "federation"),
    Bug("cluster_is_not_noted", "federation", "content.cpp",
        "an object names the cluster that it is of, where several have some",
        (("  if (!rules.origin.empty()) annotations", "  if (rules.origin.empty()) annotations"),), "federation"),
    Bug("going_upstream_is_there", "federation", "decide.cpp",
        "who is being deleted upstream goes downstream",
        (("p.upstream == nullptr || terminating(*p.upstream)) return", "p.upstream == nullptr) return"),), "federation"),
    Bug("name_of_others_is_taken", "federation", "decide.cpp",
        "objects of others are left alone",
        (("  if (of.empty() && (p.hidden || !rules.adopt)) {", "  if (false) {"),), "federation"),
    Bug("objects_of_others_are_orphans", "federation", "decide.cpp",
        "without `adopt` only what was made here is deleted",
        (("  const bool ours = rules.adopt || !made_of(*p.downstream).empty();", "  const bool ours = true;"),), "federation"),
    Bug("finalizers_are_replaced", "federation", "content.cpp",
        "finalizers downstream stay",
        (("  json::object& meta = kubernetes::object_made(out, \"metadata\");\n  for (",
          "  json::object& meta = kubernetes::object_made(out, \"metadata\");\n  meta.erase(\"finalizers\");\n  for ("),),
        "federation"),
    Bug("other_labels_are_selected", "federation", "syncer_requests.cpp",
        "an object that has become another robot's is not written",
        (("(rules_.selector.empty() || labels_of(*known) == labels_of(r.body))", "true"),), "federation"),
    Bug("hidden_is_not_asked_for", "federation", "syncer_requests.cpp",
        "a label that was changed downstream is put back",
        (("    if (hidden && side_of(look.action) == downstream) {", "    if (false) {"),), "federation"),
    Bug("definition_is_read_once", "federation", "hub.cpp",
        "a definition that changes is followed",
        (("  if (runs && read.rules && running->second == *read.rules) return;", "  if (runs) return;"),), "federation"),
)

BUGS = WIRE + STORE + AGENT + REPORTS + RACES + RIVALS + FEDERATION


def compile_command(build, source):
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if entry["file"] == str(source):
            return entry["command"], entry["directory"]
    raise SystemExit(f"{source}: not in compile_commands.json")


def link_command(build, library):
    lines = subprocess.run(["ninja", "-C", str(build), "-t", "commands", library], text=True, capture_output=True,
                           check=True).stdout.splitlines()
    return next(line for line in reversed(lines) if f" -o {library} " in line)


def source_of(bug):
    """A source of the plugin's folder; or with its folder, when several plugins share it."""
    return REPOSITORY / "plugins" / (bug.source if "/" in bug.source else f"{bug.plugin}/{bug.source}")


def misplaced():
    """Faults of this list: what a bug changes does not stand once in its source."""
    for bug in BUGS:
        text = source_of(bug).read_text(encoding="utf-8")
        for old, _ in bug.edits:
            if (times := text.count(old)) != 1:
                place = source_of(bug).relative_to(REPOSITORY)
                yield f"{place}: has {times} times, once is needed by the bug {bug.name}: {old!r}"


def planted_text(bug):
    text = source_of(bug).read_text(encoding="utf-8")
    for old, new in bug.edits:
        text = text.replace(old, new)
    return text


def plant(build, bug):
    """Builds the plugin with the bug in it; returns its path."""
    source = source_of(bug)
    folder = build / "bugs" / bug.name
    folder.mkdir(parents=True, exist_ok=True)
    planted, made = folder / source.name, folder / (source.name + ".o")
    planted.write_text(planted_text(bug), encoding="utf-8")
    command, directory = compile_command(build, source)
    compiled = re.sub(r"-o \S+", f"-o {made}", command.replace(f"-c {source}", f"-c {planted}"))
    compiled = re.sub(r"-M[FT] \S+|-MD", "", compiled) + f" -I{source.parent} -w"
    subprocess.run(compiled, shell=True, cwd=directory, check=True)
    library = f"stage/lib/davit/plugins/{bug.plugin}.so"
    out = folder / f"{bug.plugin}.so"
    # Ours stands first: of a library the linker then has no use for the member that it replaces.
    linked = [word for word in shlex.split(link_command(build, library)) if not word.endswith(f"/{source.name}.o")]
    at = linked.index("-o")
    linked[at + 1] = str(out)
    linked.insert(at, str(made))
    end = linked.index("&&", at) if "&&" in linked[at:] else len(linked)
    begin = next(i for i, word in enumerate(linked) if word.endswith(("c++", "g++", "clang++")))
    subprocess.run(linked[begin:end], cwd=build, check=True)
    return out


def find(build, bug):
    began = time.monotonic()
    command = [str(build / "tests/simulation/simulation"), "--seeds", "1", str(SEEDS), "--plugin",
               f"{bug.plugin}={plant(build, bug)}"] + (["--scene", bug.scene] if bug.scene else [])
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    lines = done.stdout.splitlines()
    verdict = next((line for line in lines if line.startswith("seed") and ": held," not in line), None)
    found = done.returncode == 1 and verdict is not None
    return bug, found, verdict or "\n".join(lines[-3:]) + done.stderr, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=str(REPOSITORY / "build/release"))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    build = Path(arguments.build).resolve()
    unknown = set(arguments.names) - {bug.name for bug in BUGS}
    if unknown:
        raise SystemExit(f"no such bug: {', '.join(sorted(unknown))}")
    if faults := list(misplaced()):
        raise SystemExit("\n".join(faults))
    chosen = [bug for bug in BUGS if not arguments.names or bug.name in arguments.names]
    missed = 0
    with ThreadPoolExecutor(2) as pool:
        for done in as_completed([pool.submit(find, build, bug) for bug in chosen]):
            bug, found, verdict, took = done.result()
            print(f"{'found ' if found else 'MISSED'}  {bug.name} ({took:.0f} s): {verdict}", flush=True)
            missed += 0 if found else 1
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
