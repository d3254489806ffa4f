// Looking at an object itself: one that no watch shows, and one that has changed between the look
// at it and the apply. An apply names the state that was judged, so the API server refuses it when
// somebody else was faster. Then the object is looked at and judged anew.
#include <boost/json.hpp>

#include "trip.hpp"

namespace davit::applier {
namespace {

// How often a trip begins again because of that. Whoever changes an object all the time is not
// fought: the record is tried again later.
constexpr uint32_t start_overs_max = 3;

}  // namespace

// Asks for an object no watch has shown, once. True: the answer will go on.
bool Trip::look_first(const ObjectName& name, const kind::Resource& as) {
  if (!looked_at_.insert(name.path()).second) return false;
  request(name.request(DAVIT_VERB_GET),
          [this, name, &as](const cluster::Response& r) { looked(name, as, r); });
  return true;
}

// The API server has refused our apply, for the object is not in the state that was judged.
void Trip::look_anew(const Step& step, const cluster::Response& refusal) {
  if (++start_overs_ > start_overs_max) {
    return retry("somebody changes " + step.name.text() +
                 " each time between the look at it and the apply: " + describe(refusal));
  }
  current_ = {};
  looked_at_.insert(step.name.path());
  request(
      step.name.request(DAVIT_VERB_GET),
      [this, name = step.name, as = step.as](const cluster::Response& r) { looked(name, *as, r); });
}

void Trip::looked(const ObjectName& name, const kind::Resource& as, const cluster::Response& r) {
  const Meaning m = meaning(r, true);
  if (m == Meaning::absent) return know(name.path(), std::nullopt) ? start_over() : next();
  if (m != Meaning::fine) return failed(name, r);
  auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  compact(*object, as, shop_->rules.field_manager);
  const bool stamped = meta.region == claim_.region && meta.record == claim_.record;
  const auto known = task_.known.find(name.path());
  const bool was_ours = known != task_.known.end() && known->second.ours;
  const bool ours =
      (stamped || (was_ours && named_like_the_record(*object))) && owner_of(*object).empty();
  Task::Known now{std::make_shared<const std::string>(json::serialize(*object)),
                  meta.resource_version, ours, false};
  return know(name.path(), std::move(now)) ? start_over() : next();
}

// Puts what an object is now (nullopt: it is not there) in the place of what was known of it. True:
// the plan depends on it, for it is one of the record's, or was.
bool Trip::know(const std::string& path, std::optional<Task::Known> now) {
  bool of_the_plan = now && now->ours;
  if (const auto before = task_.known.extract(path)) {
    of_the_plan = of_the_plan || before.mapped().ours;
    // A park ends by what its watch shows, which has shown this.
    if (before.mapped().grounds) report_.grounds += fingerprint_of_wishes(*before.mapped().text);
  }
  if (now) task_.known.emplace(path, *std::move(now));
  return of_the_plan;
}

void Trip::start_over() {
  step_ = removal_ = 0;
  current_ = {};
  run();
}

}  // namespace davit::applier
