// Plan: what a kind's reconcile asks for, checked against what the kind said it may ever make.
// Pure.
#pragma once

#include <boost/json/value.hpp>

#include <davit/records.hpp>

#include "object.hpp"

namespace davit::applier {

enum class Mode : uint8_t { apply, ensure, shared };

struct Step {
  json::value object;  // an object
  ObjectName name;
  const kind::Resource* as = nullptr;
  Mode mode = Mode::apply;
  size_t owner = SIZE_MAX;  // index of an earlier step; SIZE_MAX: none
  bool controller = false;
  bool replace_on_immutable = false;
};

struct Removal {
  ObjectName name;
  const kind::Resource* as = nullptr;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<Removal> removals;
  Status status;  // without key and version
  std::chrono::milliseconds look_again{0};
};

// `description` must outlive the plan. An error is the kind's fault.
Result<Plan> read_plan(std::string_view output, const kind::Description& description);

}  // namespace davit::applier
