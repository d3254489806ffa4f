// Reads an object that no watch shows, or that has changed between the judgement and the apply. An
// apply names the state that was judged, so the API server refuses it when somebody else has
// written first. Then the object is read and judged again.
#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {
namespace {

// How often a reconciliation starts over because of that. If somebody changes an object all the
// time, the record is retried later.
constexpr uint32_t start_overs_max = 3;

}  // namespace

// Reads an object that no watch has shown, once per reconciliation. True: the reconciliation goes
// on when the answer comes.
bool Reconciliation::look_first(const ObjectName& name, const kind::Resource& as) {
  if (!looked_at_.insert(name.path()).second) return false;
  request(name.request_compact(DAVIT_VERB_GET),
          [this, name, &as](const cluster::Response& r) { looked(name, as, r); });
  return true;
}

// The API server has refused our apply because the object is not in the state that was judged.
void Reconciliation::look_anew(const Step& step, const cluster::Response& refusal) {
  if (++start_overs_ > start_overs_max) {
    return retry("somebody changes " + step.name.text() +
                 " each time between the look at it and the apply: " + describe(refusal));
  }
  current_ = {};
  looked_at_.insert(step.name.path());
  request(
      step.name.request_compact(DAVIT_VERB_GET),
      [this, name = step.name, as = step.as](const cluster::Response& r) { looked(name, *as, r); });
}

void Reconciliation::looked(const ObjectName& name, const kind::Resource& as,
                            const cluster::Response& r) {
  const Meaning m = meaning(r, true);
  if (m == Meaning::absent) return know(name.path(), std::nullopt) ? start_over() : next();
  if (m != Meaning::fine) return failed(name, r);
  auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  compact(*object, as, context_->rules.field_manager);
  const auto known = task_.known.find(name.path());
  const bool was_ours = known != task_.known.end() && known->second.ours;
  bool ours = meta.region == claim_.region && meta.record == claim_.record;
  if (!ours && was_ours) {
    const auto named = named_like_the_record(*object);
    if (!named) return;
    ours = *named;
  }
  const auto owner = owner_of(*object);
  if (!owner) return;
  ours = ours && owner->empty();
  Task::Known now{std::make_shared<const std::string>(json::serialize(*object)),
                  meta.resource_version, ours, false};
  return know(name.path(), std::move(now)) ? start_over() : next();
}

// Replaces what is known of an object by its present state (nullopt: the object is absent). True:
// the plan depends on it, because the object is or was one of the record's.
bool Reconciliation::know(const std::string& path, std::optional<Task::Known> now) {
  bool of_the_plan = now && now->ours;
  if (const auto before = task_.known.extract(path)) {
    of_the_plan = of_the_plan || before.mapped().ours;
    // A park ends when a watched object changes. So the fingerprint keeps the watched state, not
    // the one read now.
    if (before.mapped().grounds)
      report_.grounds += fingerprint_without_status(*before.mapped().text);
  }
  if (now) task_.known.emplace(path, *std::move(now));
  return of_the_plan;
}

void Reconciliation::start_over() {
  step_ = removal_ = 0;
  current_ = {};
  run();
}

}  // namespace davit::applier
