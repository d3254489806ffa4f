// Desired beside observed: joins what was read of records, statuses and agents into the answer of
// `davit status`. Pure; it is fed from zero for one answer, and only with what is new for a watched
// one.
#pragma once

#include <array>

#include "kinds.hpp"
#include "render.hpp"

namespace davit::desired {

class Board {
 public:
  // `kinds` outlives it; NULL: what agents of Krane's are not sent is not asked for.
  explicit Board(Selection selection, const Kinds* kinds = nullptr)
      : selection_(std::move(selection)), kinds_(kinds) {}
  const Selection& selection() const { return selection_; }

  // Forgets what it was fed.
  void reset();
  void record(const davit_record& record);
  void status(Status status);
  bool empty() const { return records_.empty() && statuses_.empty(); }
  // All of them, also of other regions and kinds.
  void agents(std::vector<Agent> agents);

  // Records, and deleted ones of which something is left in the cluster; ordered by kind, region
  // and id. `now_unix_ms`: by which an agent is silent.
  void render(Cursor head, int64_t now_unix_ms, v1::StatusResponse* out) const;

 private:
  using Names = std::set<std::array<std::string, 4>>;  // kind, region, namespace, name
  Names live_names() const;
  // The store clears the name of a dead record that is taken over, without a new version of it.
  static bool taken_over(const Key& key, const Wanted& dead, const Names& live);

  Selection selection_;
  const Kinds* kinds_;
  std::map<Key, Wanted> records_;
  std::map<Key, Status> statuses_;
  Conditions conditions_;
};

}  // namespace davit::desired
