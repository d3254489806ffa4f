// AcceptedStatuses: the latest status of each key that the peer has accepted, kept for repetition.
// When another agent of the region has a greater epoch, the peer accepts our statuses but ignores
// them and keeps that agent's. The answer to a progress message tells the Reporter so. The answer
// covers what was sent before that progress began. Pure; only for davit.v1.
//
// The statuses are kept in the order in which they were sent: the lowest epochs come first, and the
// unconfirmed statuses last.
#pragma once

#include <array>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include <davit/records.hpp>

namespace davit::reporter {

class AcceptedStatuses {
 public:
  // `capacity`: how many keys are kept. `gone_max`: how many keys of records that are gone are kept
  // besides. Above a limit the one that was sent first is forgotten.
  AcceptedStatuses(size_t capacity, size_t gone_max) : most_{capacity, gone_max} {}

  void sending(const std::vector<Status>& batch) { under_way_ = batch; }
  // The batch under way has ended. False: the peer did not take it; it is not kept here.
  void ended(bool taken);
  // The peer has refused the key's status for good.
  void forget(const Key& key);

  // A progress call begins; its answer does not cover the batch under way. confirmed(): the answer
  // was that no other epoch counts, so the peer has ignored nothing.
  void asking() { asked_ = round_++; }
  void confirmed() { confirmed_ = asked_; }
  // Returns the statuses that the peer may have ignored, and no longer counts them as unconfirmed.
  // The batch under way is among them, because its epoch may not count either. It comes last: an
  // earlier status of the same key is older.
  std::vector<Status> take_unconfirmed();

  // True: some statuses were sent with a lower epoch than this one.
  bool has_below(Epoch epoch) const;
  // Adds such statuses to the batch until it has `most` or about `bytes_max`. Leaves out keys that
  // the batch already has.
  void add_below(Epoch epoch, size_t most, size_t bytes_max, std::vector<Status>& batch) const;

  size_t size() const { return by_key_.size(); }

 private:
  struct Sent {
    Status status;
    uint64_t round;
  };
  using List = std::list<Sent>;

  List& list_of(const Status& status) { return lists_[status.gone ? 1 : 0]; }
  void keep(Status&& status);

  const std::array<size_t, 2> most_;
  std::array<List, 2> lists_;  // statuses of records that are there, and of those that are gone
  std::unordered_map<std::string, List::iterator> by_key_;
  std::vector<Status> under_way_;
  uint64_t round_ = 1, asked_ = 0, confirmed_ = 0;  // each progress call begins a round
};

}  // namespace davit::reporter
