// Desired: the records of one kind that a stream named, by name, and what each new change means for
// what was there before. Pure; on the applier's strand between `offer` and the queue.
#pragma once

#include <functional>
#include <unordered_map>

#include <davit/sink.hpp>

#include "slot.hpp"

namespace davit::applier {

class Desired {
 public:
  // What is to be done about an accepted change.
  struct Accepted {
    Slot* slot = nullptr;                  // NULL: nothing, it is settled
    bool work = false;                     // the slot has something new: queue it
    std::vector<uint64_t> superseded;      // settled as done by this change
    std::optional<sink::Outcome> outcome;  // the change itself is settled at once
  };

  // Of a stream, in this incarnation of the store. True: it is another one than the last stream's.
  bool begin(bool snapshot, uint64_t incarnation);
  uint64_t incarnation() const { return incarnation_; }
  // Its namespace may be empty in a delete of a kind whose objects all live in one.
  Accepted accept(const sink::Change& change);
  // Distinct live records (holds included) that this snapshot has named.
  uint64_t counted() const;
  bool named_now(const Slot& slot) const { return slot.snapshot == snapshot_; }
  // Whether the id is a live record's, under whatever name: a store that was emptied and filled
  // again may name its records anew.
  bool lives(const std::string& id) const;
  // The record of this id has died with this version, and another one has taken its name.
  void taken_over(const std::string& id, uint64_t version);
  // Says whose the slot is.
  void identify(Slot& slot, const std::string& id);
  // The first slot of this record; NULL: none is.
  Slot* of_record(const std::string& id) const;

  // The slot of a name, made if there is none. One that waits without a namespace takes this one.
  Slot& at(const std::string& ns, const std::string& name);
  Slot* find(uint64_t number);
  Slot* find(const std::string& ns, const std::string& name);
  void erase(Slot& slot);
  void each(const std::function<void(Slot&)>& visit);
  size_t size() const { return slots_.size(); }

  // Numbers are unique over all kinds: the first is `base`, and each next one `step` further.
  Desired(uint64_t base, uint64_t step) : next_(base), step_(step) {}

 private:
  Slot* find_by_name(const sink::Change& change);

  std::unordered_map<uint64_t, std::unique_ptr<Slot>> slots_;
  std::unordered_map<std::string, Slot*> by_name_;     // "namespace/name"
  std::unordered_multimap<std::string, Slot*> by_id_;  // of those that have one
  uint64_t next_, step_;
  uint64_t snapshot_ = 1;
  uint64_t incarnation_ = 0;
};

}  // namespace davit::applier
