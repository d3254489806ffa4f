// Replaces an object that cannot be changed: the object is deleted and applied once more. The
// object runs, so it is deleted only after the API server has said that it accepts the new one.
//
// The reconciliation asks with a create of the same object under its own name with dryRun=All. The
// name is taken, so the best answer is 409 AlreadyExists. That answer is worth as much as a 201: an
// API server runs mutating admission, the type's validation and validating admission before it asks
// its store, and only the store knows that the name is taken. Another name could be judged by other
// rules, because policies match on names.
//
// Pods that the new object selects as well are left for it: a StatefulSet that cannot be changed is
// made anew around its pods, which go on running.
#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "reconciliation.hpp"

namespace davit::applier {
namespace {

// Whether both are of the group apps and select the same pods. Others, such as a Job, do not
// necessarily adopt pods that they find.
bool selects_the_same(const json::object& wanted, const json::object& live) {
  const auto* selector = kubernetes::value_in(kubernetes::object_in(wanted, "spec"), "selector");
  const auto* present = kubernetes::value_in(kubernetes::object_in(live, "spec"), "selector");
  return kubernetes::text_in(wanted, "apiVersion").starts_with("apps/") && selector != nullptr &&
         present != nullptr && *selector == *present;
}

}  // namespace

void Reconciliation::replace(const Step& step, uint64_t rendered, std::string why) {
  request(step.name.request_compact(DAVIT_VERB_GET),
          [this, rendered, why = std::move(why)](const cluster::Response& live) {
            replace_live(plan_.steps[step_], rendered, why, live);
          });
}

void Reconciliation::replace_live(const Step& step, uint64_t rendered, const std::string& why,
                                  const cluster::Response& live) {
  const Meaning m = meaning(live, true);
  if (m == Meaning::absent) return make_anew(step.name);
  if (m != Meaning::fine) return failed(step.name, live);
  const auto object = answered(live);
  if (!object) return;
  const Meta meta = meta_of(*object);
  if (meta.terminating) return retry(step.name.text() + " is being deleted");
  if (foreign(step, *object)) return;
  if (meta.region != claim_.region)
    return park_on(step.name, step.name.text() + " must be replaced and is not ours: " + why);
  if (fenced(step.name, meta.made_of)) return;
  current_.cannot_change = why;
  const bool leave_pods = selects_the_same(step.object.get_object(), *object);
  ask_for_new(step, rendered, [this, meta, why, leave_pods](const cluster::Response& answer) {
    const ObjectName& name = plan_.steps[step_].name;
    if (would_be_accepted(answer))
      return delete_for_successor(plan_.steps[step_], meta, leave_pods);
    failed(name,
           name.text() + " cannot be changed (" + why +
               ") and would be refused if it were made anew, so it is left as it is: " +
               describe(answer),
           answer);
  });
}

// Deletes exactly the state that was looked at.
void Reconciliation::delete_for_successor(const Step& step, const Meta& live, bool leave_pods) {
  const char* pods = leave_pods ? "Orphan" : "Background";
  send_delete(step.name, live.uid, live.resource_version, pods, [this](const cluster::Response& r) {
    const ObjectName& name = plan_.steps[step_].name;
    const Meaning m = meaning(r, true);
    if (m != Meaning::fine && m != Meaning::absent) return failed(name, r);
    make_anew(name);
  });
}

// The object is gone: the same apply is sent once more.
void Reconciliation::make_anew(const ObjectName& name) {
  know(name.path(), std::nullopt);
  current_.uid.clear();
  current_.resource_version.clear();
  current_.replaced = true;
  next();
}

void Reconciliation::ask_for_new(const Step& step, uint64_t rendered,
                                 std::function<void(const cluster::Response&)> then) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = step.name.resource;
  q.ns = step.name.ns;
  q.query = {{"fieldManager", context_->rules.field_manager}, {"dryRun", "All"}};
  q.body = json::serialize(body_of(step, rendered));
  request(std::move(q), std::move(then));
}

}  // namespace davit::applier
