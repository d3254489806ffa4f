// Joins desired and observed state: the StatusView takes records, statuses and agents and makes the
// answer of Status and WatchStatus. StatusReader feeds it from the store: everything for the first
// answer, and only what has changed for the later answers of a watch. Pure.
#pragma once

#include <array>

#include "render.hpp"

namespace davit::desired {

class StatusView {
 public:
  explicit StatusView(Selection selection) : selection_(std::move(selection)) {}
  const Selection& selection() const { return selection_; }

  // Forgets the records and the statuses.
  void reset();
  // True: the record is selected, and all agents of its region speak ctrl.v1, as far as the
  // StatusView knows. So its kind is to be asked whether it is sent to them.
  bool record(const davit_record& record);
  // What the kind has said of the record.
  void unsent(const Key& key, Condition why);
  void status(Status status);
  bool empty() const { return records_.empty() && statuses_.empty(); }
  // Replaces all agents, and what is delayed. They include those of other regions and kinds.
  void agents(std::vector<Agent> agents, Delayed delayed = {});
  // The selected regions for whose records the kinds are asked.
  std::set<std::string> judged_regions() const;
  // Those of them with records whose kind could not answer.
  std::set<std::string> delayed_regions() const;

  // Writes the records, and the deleted ones of which something is left in the cluster, in the
  // order of kind, region and id. `now_unix_ms` decides which agents are silent.
  void render(Cursor head, int64_t now_unix_ms, v1::StatusResponse* out) const;

 private:
  using Names = std::set<std::array<std::string, 4>>;  // kind, region, namespace, name
  Names live_names() const;
  // True: another record has the name of this deleted one. The store then clears the deleted
  // record's name without a new version, so the StatusView may still have the old name.
  static bool taken_over(const Key& key, const Wanted& dead, const Names& live);

  Selection selection_;
  std::map<Key, Wanted> records_;
  std::map<Key, Status> statuses_;
  Conditions conditions_;
};

}  // namespace davit::desired
