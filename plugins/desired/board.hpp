// Desired beside observed: joins what was read of records, statuses and agents into the answer of
// `davit status`. Pure; it is fed from zero for one answer, and only with what is new for a watched
// one.
#pragma once

#include <array>
#include <functional>

#include "render.hpp"

namespace davit::desired {

class Board {
 public:
  // Why agents of Krane's are not sent a record; empty: they are.
  using Unsent = std::function<std::string(const davit_record&)>;

  // `unsent` is asked of regions where all agents speak ctrl.v1; it may be empty.
  explicit Board(Selection selection, Unsent unsent = {})
      : selection_(std::move(selection)), unsent_(std::move(unsent)) {}
  const Selection& selection() const { return selection_; }

  // Forgets what it was fed.
  void reset();
  // Judged by the agents that it knows of at that moment.
  void record(const davit_record& record);
  void status(Status status);
  bool empty() const { return records_.empty() && statuses_.empty(); }
  // All of them, also of other regions and kinds.
  void agents(std::vector<Agent> agents);
  // Selected regions whose records are judged by what agents of Krane's are not sent.
  std::set<std::string> judged_regions() const;

  // Records, and deleted ones of which something is left in the cluster; ordered by kind, region
  // and id. `now_unix_ms`: by which an agent is silent.
  void render(Cursor head, int64_t now_unix_ms, v1::StatusResponse* out) const;

 private:
  using Names = std::set<std::array<std::string, 4>>;  // kind, region, namespace, name
  Names live_names() const;
  // The store clears the name of a dead record that is taken over, without a new version of it.
  static bool taken_over(const Key& key, const Wanted& dead, const Names& live);

  Selection selection_;
  Unsent unsent_;
  std::map<Key, Wanted> records_;
  std::map<Key, Status> statuses_;
  Conditions conditions_;
};

}  // namespace davit::desired
