// What a reconciliation may report of its record: which watches the status depends on, and what
// runs when the record itself cannot be applied.
#include "reconciliation.hpp"
#include "watches.hpp"

namespace davit::applier {

// A status depends on the seen resources (pods) and on those owned resources that the record has.
// Only when nothing at all is left is a deleted record gone, so its status depends on all watches.
void Reconciliation::rely_on(const Plan& plan) {
  const auto& resources = task_.kind->description().resources;
  std::vector<bool> needed(resources.size());
  for (size_t i = 0; i < resources.size(); ++i)
    needed[i] = plan.steps.empty() || resources[i].role == DAVIT_RESOURCE_SEEN;
  for (const Step& step : plan.steps) needed[watch_of(*step.as)] = true;
  report_.relies_on.clear();
  report_.seen = true;
  for (uint32_t i = 0; i < resources.size(); ++i) {
    if (!needed[i] || !watched(resources[i])) continue;
    report_.relies_on.push_back(i);
    report_.seen = report_.seen && task_.coverage[i] == Coverage::complete;
  }
}

std::optional<Plan> Reconciliation::plan_of(std::string_view desired) const {
  auto output = task_.kind->reconcile(input(desired));
  if (!output.ok()) return std::nullopt;
  auto plan = read_plan(*output, task_.kind->description());
  if (!plan.ok() || !plan->needs.empty()) return std::nullopt;
  return std::move(*plan);
}

// What runs goes on, whatever becomes of the record's new version. Its status is derived from the
// message that was applied last. If this process has applied nothing yet, the status is derived
// from the objects alone.
void Reconciliation::refuse(std::string why) {
  std::optional<Plan> plan;
  if (task_.runs) {
    const auto text = task_.schema.to_json(task_.kind->description().apply_type, task_.runs.view());
    if (text.ok()) plan = plan_of(*text);
  }
  if (!plan) {
    plan = plan_of({});
    if (plan) {  // without the message the wanted number of replicas is unknown
      if (plan->status.ready == 0) plan->status.health = "unknown";
      plan->status.message.clear();
    }
  }
  if (plan) {
    rely_on(*plan);
    report_.status = std::move(plan->status);
  }
  if (task_.look_only) return finish(Report::End::looked);  // it is parked already
  park(std::move(why));
}

}  // namespace davit::applier
