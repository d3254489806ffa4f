// Handles an apply that is refused because of what others have put beside our fields (a second
// handler of a probe, the other bound of a disruption budget). Their fields become ours, and the
// same apply, sent once more, removes those that it does not name. Fields that we apply need none
// of this: `force` takes them.
//
// Fields are taken over only when that must help. The type's own validation must have refused the
// apply, not an admission policy, and the API server must accept our object as a new one
// (dryRun=All). Then what others have put beside our fields is the fault.
#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {

bool Reconciliation::may_take_over(const Step& step, const cluster::Response& refusal) const {
  return refused_by_validation(refusal) && context_->rules.force && !current_.taken_over &&
         task_.known.contains(step.name.path()) && step.secrets.empty();
}

void Reconciliation::take_over(const Step& step, uint64_t rendered,
                               const cluster::Response& refusal) {
  ask_for_new(step, rendered, [this, why = describe(refusal)](const cluster::Response& answer) {
    const ObjectName& name = plan_.steps[step_].name;
    if (!would_be_accepted(answer)) return failed(name, answer);
    request(name.request_compact(DAVIT_VERB_GET), [this, why](const cluster::Response& live) {
      hand_over(plan_.steps[step_], why, live);
    });
  });
}

void Reconciliation::hand_over(const Step& step, const std::string& refusal,
                               const cluster::Response& live) {
  const Meaning m = meaning(live, true);
  if (m == Meaning::absent) return retry(step.name.text() + " has been deleted meanwhile");
  if (m != Meaning::fine) return failed(step.name, live);
  auto object = answered(live);
  if (!object) return;
  const Meta meta = meta_of(*object);
  if (foreign(step, *object) || fenced(step.name, meta.made_of)) return;
  json::value* managers = (*object)["metadata"].get_object().if_contains("managedFields");
  const json::string& version = step.object.get_object().at("apiVersion").get_string();
  if (managers == nullptr || !managers->is_array() ||
      !take_fields_over(managers->get_array(), context_->rules.field_manager, version)) {
    return park_on(step.name, step.name.text() + ": " + refusal);
  }
  cluster::Request q = step.name.request(DAVIT_VERB_MERGE);
  q.query = {{"fieldManager", context_->rules.field_manager}};
  q.body = json::serialize(
      json::object{{"metadata", json::object{{"resourceVersion", meta.resource_version},
                                             {"managedFields", std::move(*managers)}}}});
  request(std::move(q), [this](const cluster::Response& r) { handed_over(r); });
}

// The object that was judged is in this state now.
void Reconciliation::handed_over(const cluster::Response& r) {
  if (meaning(r, true) != Meaning::fine) return failed(plan_.steps[step_].name, r);
  const auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  current_.uid = meta.uid;
  current_.resource_version = meta.resource_version;
  current_.taken_over = true;
  next();
}

}  // namespace davit::applier
