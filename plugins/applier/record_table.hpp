// RecordTable: the records of one kind that a stream has named, by name. It decides what each new
// change means for the record that had the name before. It stands between `offer` and the queue.
// Pure; used on the applier's strand.
#pragma once

#include <functional>
#include <unordered_map>

#include <davit/sink.hpp>

#include "record_entry.hpp"

namespace davit::applier {

class RecordTable {
 public:
  // What the caller does about an accepted change.
  struct Accepted {
    RecordEntry* entry = nullptr;          // NULL: nothing, the change is settled
    bool work = false;                     // the entry has something new: queue it
    std::vector<Version> superseded;       // versions that this change settles as done
    std::optional<sink::Outcome> outcome;  // if set, the change itself is settled at once
  };

  // A stream begins, in this incarnation of the store. True: the incarnation differs from that of
  // the previous stream.
  bool begin(bool snapshot, Incarnation incarnation);
  Incarnation incarnation() const { return incarnation_; }
  // The namespace may be empty in a delete, for a kind whose objects all live in one namespace.
  Accepted accept(const sink::Change& change);
  // Distinct live records (holds included) that this snapshot has named.
  uint64_t counted() const;
  bool named_now(const RecordEntry& entry) const { return entry.snapshot == snapshot_; }
  // Whether the id belongs to a live record, under whatever name. A store that was emptied and
  // filled again may give its records new names.
  bool lives(const std::string& id) const;
  // A delete has no name when another record has taken the name. If that other record died first,
  // no change of it is to come, and the delete gets the name back. False: it has none. Other
  // changes stay as they are.
  bool restore_name(sink::Change& change) const;
  // The record with this id was deleted in this version, and another record has taken its name.
  void taken_over(const std::string& id, Version version);
  // Sets the id of the record that the entry belongs to.
  void identify(RecordEntry& entry, const std::string& id);
  // The first entry of this record; NULL: there is none.
  RecordEntry* of_record(const std::string& id) const;

  // The entry of a name; it is created if there is none. An entry that was created without a
  // namespace gets this one.
  RecordEntry& at(const std::string& ns, const std::string& name);
  RecordEntry* find(uint64_t number);
  RecordEntry* find(const std::string& ns, const std::string& name);
  void erase(RecordEntry& entry);
  // The visitor may erase the entry that it is given.
  void each(const std::function<void(RecordEntry&)>& visit) const;
  size_t size() const { return entries_.size(); }

  // RecordEntry numbers are unique over all kinds: the first is `base`, and each following one is
  // `step` higher.
  RecordTable(uint64_t base, uint64_t step) : next_(base), step_(step) {}

 private:
  RecordEntry* find_by_name(const sink::Change& change);

  std::unordered_map<uint64_t, std::unique_ptr<RecordEntry>> entries_;
  std::unordered_map<std::string, RecordEntry*> by_name_;     // "namespace/name"
  std::unordered_multimap<std::string, RecordEntry*> by_id_;  // only entries that have an id
  uint64_t next_, step_;
  uint64_t snapshot_ = 1;
  Incarnation incarnation_{};
};

}  // namespace davit::applier
