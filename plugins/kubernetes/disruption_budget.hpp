// How many pods of a workload may be evicted at once: the bound of a PodDisruptionBudget. Kinds
// render it, and one reads it from its settings and records.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

namespace davit::kubernetes {

// At most one of the two is set, a number of pods ("1") or a share ("50%"). None: no budget.
struct DisruptionBudget {
  std::string min_available, max_unavailable;
  bool empty() const { return min_available.empty() && max_unavailable.empty(); }
};

// What is wrong with a bound that is not empty; nothing for a good one.
std::optional<std::string> bound_fault(std::string_view bound);

// The spec of a policy/v1 PodDisruptionBudget for the pods with these labels.
boost::json::object budget_spec(const DisruptionBudget&, boost::json::object match_labels);

}  // namespace davit::kubernetes
