// Plan: the parsed output of a kind's reconcile, checked against the resources that the kind's
// description names. A reconciliation carries it out. Pure.
#pragma once

#include <boost/json/value.hpp>

#include <davit/records.hpp>
#include <davit/secrets.hpp>

#include "object.hpp"

namespace davit::applier {

// How a step's object is sent. `ensure` creates it if it is absent and never changes it. `apply`
// and `shared` are server-side applies; a shared object belongs to no single record.
enum class Mode : uint8_t { apply, ensure, shared };

// A value of a Secret, which is resolved just before the Secret is applied.
struct SecretValue {
  std::string key;
  secrets::Item item;
};

struct Step {
  json::value object;                // always a JSON object
  std::vector<SecretValue> secrets;  // of a Secret: its data
  // What is known of the object when it is as wanted: the object itself, or what compact() leaves
  // of a Secret.
  const json::value& shape() const { return secret_shape.is_null() ? object : secret_shape; }
  void update_shape();       // after a change of the object
  json::value secret_shape;  // null: no Secret
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

// What the kind asks for before it can answer: an object of the cluster.
struct Need {
  std::string id;
  ObjectName object;
};

// The optional members of reconcile's answer that read_plan understands, as a JSON list: the
// "features" of the input.
inline constexpr std::string_view features = R"(["needs/object","apply/secrets"])";

struct Plan {
  // Not empty: the rest is empty, and the kind must be asked again.
  std::vector<Need> needs;
  std::vector<Step> steps;
  std::vector<Removal> removals;
  Status status;  // without key and version
  std::chrono::milliseconds look_again{0};
};

// `description` must outlive the plan. An error is the kind's fault. A member that is not known is
// one: it may change what the others mean.
Result<Plan> read_plan(std::string_view output, const kind::Description& description);

}  // namespace davit::applier
