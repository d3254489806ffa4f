// Desired beside observed: joins what was read of records, statuses and agents into the answer of
// `davit status`. Pure; it is fed from zero for one answer, and only with what is new for a watched
// one.
#pragma once

#include <array>
#include <map>
#include <set>

#include <davit/records.hpp>

namespace davit::v1 {
class StatusResponse;
}

namespace davit::desired {

// Empty means any.
struct Selection {
  std::string kind, region, id;
  bool takes(const Key& key) const {
    return (kind.empty() || key.kind == kind) && (region.empty() || key.region == region) &&
           (id.empty() || key.id == id);
  }
};

// One agent, and how many committed records of its region and kinds it has not applied yet.
struct Agent {
  Progress progress;
  uint64_t lag = 0;
  bool taken_over = false;  // Board finds out
};

class Board {
 public:
  explicit Board(Selection selection) : selection_(std::move(selection)) {}
  const Selection& selection() const { return selection_; }

  // Forgets what it was fed.
  void reset();
  void record(const davit_record& record);
  void status(Status status);
  bool empty() const { return records_.empty() && statuses_.empty(); }
  // All of them, also of other regions and kinds.
  void agents(std::vector<Agent> agents);

  // Live records, and dead ones of which something is left in the cluster; ordered by kind, region
  // and id.
  void render(Cursor head, v1::StatusResponse* out) const;

 private:
  struct Desired {
    std::string ns, name, state;
    uint64_t version = 0;
    bool live = true;
  };
  struct Condition {
    std::string word, reason;
  };
  Condition condition(const Key& key, const Status* observed) const;
  using Names = std::set<std::array<std::string, 4>>;  // kind, region, namespace, name
  Names live_names() const;
  // The store clears the name of a dead record that is taken over, without a new version of it.
  static bool taken_over(const Key& key, const Desired& dead, const Names& live);

  Selection selection_;
  std::map<Key, Desired> records_;
  std::map<Key, Status> statuses_;
  std::vector<Agent> agents_;
};

}  // namespace davit::desired
