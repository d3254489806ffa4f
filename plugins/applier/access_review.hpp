// AccessReview: whether the agent's account has the rights that the kinds need, and the cluster has
// what they need. It asks at the start, when a watch or a record is refused, and at intervals while
// something is missing, and says what is missing in the log and as issues of the kinds. `davit
// check` asks, too. The hub owns it and calls it on the applier's strand.
#pragma once

#include "access.hpp"
#include "kind_state.hpp"
#include "reconcile_context.hpp"
#include "status_publisher.hpp"

namespace davit::applier {

class AccessReview {
 public:
  using Kinds = std::vector<std::unique_ptr<KindState>>;

  // `kinds` and `context` outlive this. `ended` is called when a review ends after stop.
  AccessReview(Host host, const ReconcileContext& context, Strand strand, const Kinds& kinds,
               std::function<void()> ended);

  // --- any thread, once all kinds are known
  // The rights that the kinds need, as the YAML of a ClusterRole that grants them.
  std::string cluster_role() const;
  // For `davit check`. Blocks the calling thread until `deadline` at most.
  Result<> check(std::chrono::nanoseconds deadline) const;

  // --- on the strand
  // A first kind is watched: asks, unless that is planned. `publisher` outlives this.
  void start(const StatusPublisher& publisher);
  // Asks at once. A review that is under way decides itself, at its end, whether another one is
  // needed.
  void soon();
  // Asks nothing any more.
  void stop();
  bool under_way() const { return under_way_; }

 private:
  Access::Question question() const;
  void ask();
  void answered(const Access::Answer& answer);
  void tell_rights(KindState& kind, const Missing& missing);
  void tell_absent(KindState& kind, const std::vector<Part>& absent);

  const Host host_;
  const ReconcileContext& context_;
  const Strand strand_;
  const Kinds& kinds_;
  const std::function<void()> ended_;
  const StatusPublisher* publisher_ = nullptr;
  Timer timer_;
  bool under_way_ = false;
  bool failed_ = false;
  bool stopped_ = false;
  Metric missing_rights_;
};

}  // namespace davit::applier
