// Departures: decides which records of one kind have left, what becomes of their objects, and when
// a record is reported as gone. It stands between the stream and the status publisher: the hub
// tells it what the stream says, asks it what follows, and carries that out. Pure; used on the
// applier's strand.
//
// A record is *confirmed gone* when it is known to be deleted and nothing in the cluster is its own
// any more. Only then it is *reported gone*, by its id, because another record may have its name.
// What a complete snapshot does not name is pruned or orphaned first (prune.hpp).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <davit/sink.hpp>

#include "object.hpp"
#include "prune.hpp"
#include "record_table.hpp"

namespace davit::applier {

class Departures {
 public:
  struct Findings {
    std::vector<GoneRecord> gone;   // confirmed gone: to be reported
    std::vector<uint64_t> look_at;  // entries whose next reconciliation decides about others
  };
  // What becomes of the records that a snapshot did not name.
  struct Judgement {
    std::vector<uint64_t> settled;   // entries: nothing of their changes is to be done any more
    std::vector<uint64_t> released;  // those of which the cluster has no object with our stamps
    size_t candidates = 0;           // those of which it has
    PruneDecision decision;          // about the candidates
    Version as_of{};                 // the version as of which they are known to be deleted
  };

  // `owned`: by index of the kind's resources, whether the kind owns the resource.
  explicit Departures(std::vector<bool> owned) : owned_(std::move(owned)) {}

  // --- what the stream says
  // `other`: the stream is in another incarnation than the one before it.
  void begin(const sink::Begin& begin, bool other);
  // All changes up to `at` have been heard.
  void reach(Cursor at);
  // True: the change is a delete from before the snapshot began, or one whose name another record
  // has. It is kept, and nothing else is to be done about it. False: `change` is one to carry out;
  // a delete may have got its name back.
  bool keep(sink::Change& change, RecordTable& desired);
  // The bookmark ends a snapshot. The snapshot waits to be judged.
  void end(const sink::Bookmark& bookmark, const History& history, uint64_t counted);
  // The stream is closed. What waits to be judged is not judged any more.
  void close();

  // --- what follows. All of it needs watches that are complete.
  // A snapshot has ended and is not judged yet.
  bool waits() const { return ended_.has_value(); }
  bool judged() const { return judged_.has_value(); }
  Judgement judge(const RecordTable& desired, const PruneRules& rules);
  // Judges again what has come since the last snapshot was judged. nullopt: none was.
  std::optional<Judgement> judge_again(const RecordTable& desired, const PruneRules& rules);
  // The same, but only of records that are known to be deleted, and only a few: an apply that an
  // earlier process had sent may arrive after the delete.
  std::optional<Judgement> judge_arrivals(const RecordTable& desired, const PruneRules& rules);
  // Deleted records of which nothing is left. The agent that deleted the objects may have died
  // before it reported that, or another record may have taken the name.
  Findings confirm(RecordTable& desired);

  // --- what follows for one entry
  // The cluster has nothing of the entry left, and no stream names it: its record, if that is gone.
  std::optional<GoneRecord> departed(const RecordEntry& entry, const RecordTable& desired);
  // The entry is erased: the records that had its name before.
  std::vector<GoneRecord> erased(const RecordEntry& entry, const RecordTable& desired);
  // The objects of this name are the entry's record's now: its deleted predecessors, by their ids
  // alone. ctrl.v1 knows a record by its name only, and would take a report with the name to be
  // about the entry's record.
  std::vector<GoneRecord> replaced(RecordEntry& entry, const RecordTable& desired);
  // A reconciliation has reported the record.
  void reported(GoneRecord record);
  // Records that were reported gone since the last snapshot began and that no entry knows. A
  // restored store may have lost the reports, and a stream that goes on lists no deleted records.
  std::vector<GoneRecord> to_report_again(const RecordTable& desired) const;
  // The id that the entry's objects give its record; empty: none does.
  static std::string id_in_stamps(const RecordEntry& entry);
  // RecordEntries that no stream names and of which nothing is left.
  static std::vector<uint64_t> left(const RecordTable& desired);

 private:
  // For each predecessor's id, the entry that has its name now.
  using Heirs = std::unordered_map<std::string, RecordEntry*>;

  void add_unnamed(RecordTable& desired, Findings& to) const;
  std::optional<Candidate> candidate(const RecordEntry& entry) const;
  bool deleted_since(const RecordEntry& entry, const Meta& meta) const;
  static Heirs heirs_in(const RecordTable& desired);
  // A record that the last snapshot did not name is known to be deleted as of this version. 0:
  // nothing is known.
  Version proven_through() const {
    return judged_ && judged_->whole() ? snapshot_began_ : Version();
  }

  const std::vector<bool> owned_;
  Version snapshot_began_{};  // version at which the snapshot began; 0: no snapshot, or unknown
  std::vector<GoneRecord> deleted_;  // those that the stream lists, not yet confirmed gone
  Tombstones tombstones_;  // the same records, as proofs while this snapshot is the last one
  std::deque<GoneRecord> reported_;    // since that snapshot began; only the latest
  std::optional<SnapshotEnd> ended_;   // a snapshot that has ended and is not yet judged
  std::optional<SnapshotEnd> judged_;  // the judged snapshot, and what was heard since
  bool unnamed_are_deleted_ = false;   // by the snapshot that was judged just now
  size_t arrivals_removed_ = 0;        // records removed by judge_arrivals since all was judged
};

}  // namespace davit::applier
