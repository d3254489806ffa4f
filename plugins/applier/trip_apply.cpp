// The applying half of a trip. Each object of the plan is compared with what is in the cluster,
// read with a GET where no watch can show it, and applied when it differs.
#include <boost/json.hpp>

#include "trip.hpp"

namespace davit::applier {
namespace {

// How soon to look again at an object that is being deleted.
constexpr std::chrono::milliseconds leaving_wait{500};
// A resource version that no object has. An apply that names it creates the object or is refused,
// because the API server checks the version only of an object that exists.
constexpr std::string_view version_of_none = "9223372036854775807";

}  // namespace

// Reads before it creates, so that an account without the right to create namespaces works in those
// that exist.
bool Trip::ensure(const Step& step) {
  const std::string path = step.name.path();
  if (shop_->ensured.contains(path) || task_.known.contains(path)) return true;
  request(step.name.request(DAVIT_VERB_GET), [this](const cluster::Response& r) {
    const ObjectName& name = plan_.steps[step_].name;
    const Meaning m = meaning(r, true);
    if (m == Meaning::absent || m == Meaning::no_right) return create(name, m == Meaning::absent);
    if (m != Meaning::fine) return failed(name, r);
    const auto object = answered(r);
    if (!object) return;
    if (meta_of(*object).terminating) return retry(name.text() + " is being deleted", leaving_wait);
    ensured(name);
  });
  return false;
}

// `looked`: the object is known to be absent. Otherwise we may not even read it, and the first
// object in the namespace shows whether it exists.
void Trip::create(const ObjectName& name, bool looked) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = name.resource;
  q.ns = name.ns;
  q.query = {{"fieldManager", shop_->rules.field_manager}};
  q.body = json::serialize(plan_.steps[step_].object);
  request(std::move(q), [this, looked](const cluster::Response& r) {
    const ObjectName& made = plan_.steps[step_].name;
    const Meaning m = meaning(r, true);
    const bool refused = m == Meaning::no_right || m == Meaning::refused;
    if (m == Meaning::fine || m == Meaning::exists || (refused && !looked)) return ensured(made);
    if (!refused) return failed(made, r);
    failed(made,
           made.text() + " does not exist, and the agent may not create it; create it, or grant " +
               "the right to create " + made.resource.resource + ": " + describe(r),
           r);
  });
}

void Trip::ensured(const ObjectName& name) {
  shop_->ensured.add(name.path());
  step_on();
  next();
}

bool Trip::apply(Step& step) {
  if (current_.replaced || current_.taken_over) {  // the same object once more; it has its stamps
    send_apply(step, fingerprint(step.object));
    return false;
  }
  if (!stamp_it(step)) return false;
  const uint64_t rendered = fingerprint(step.object);
  switch (compare(step, rendered)) {
    case Found::same:
      shop_->skips.add();
      return true;
    case Found::ended:
      return false;
    case Found::unseen:
      if (!look_first(step.name, *step.as)) send_apply(step, rendered);
      return false;
    case Found::differs:
      break;
  }
  send_apply(step, rendered);
  return false;
}

// Adds the owner and those stamps that are the same in every apply. False: the trip has ended.
bool Trip::stamp_it(Step& step) {
  json::object& metadata = step.object.get_object()["metadata"].get_object();
  json::value& labels = metadata["labels"];
  if (!labels.is_object()) labels = json::object();
  labels.get_object()[stamp::region] = claim_.region;
  json::value& annotations = metadata["annotations"];
  if (!annotations.is_object()) annotations = json::object();
  if (step.mode == Mode::apply) {
    labels.get_object()[stamp::kind] = claim_.kind;
    annotations.get_object()[stamp::id] = task_.key.id;
    annotations.get_object()[stamp::record] = claim_.record;
  }
  if (step.owner == SIZE_MAX) return true;
  const Step& owner = plan_.steps[step.owner];
  if (uids_[step.owner].empty()) {
    park("kind: " + step.name.text() + " is to be owned by an object without a uid");
    return false;
  }
  // blockOwnerDeletion is left out: where OwnerReferencesPermissionEnforcement is on, it needs the
  // right to update the owner's finalizers.
  metadata["ownerReferences"] =
      json::array{json::object{{"apiVersion", owner.object.get_object().at("apiVersion")},
                               {"kind", owner.as->kind},
                               {"name", owner.name.name},
                               {"uid", uids_[step.owner]},
                               {"controller", step.controller}}};
  return true;
}

// Whether the object exists and says what the kind rendered.
Trip::Found Trip::compare(const Step& step, uint64_t rendered) {
  const std::string path = step.name.path();
  const auto known = task_.known.find(path);
  if (known == task_.known.end()) return compare_unseen(step, rendered);
  const auto applied = report_.applied.find(path);
  const bool same = applied != report_.applied.end() && applied->second.rendered == rendered;
  if (same && applied->second.resource_version == known->second.resource_version &&
      of_this_history(applied->second.made_of)) {
    uids_[step_] = applied->second.uid;
    return Found::same;
  }
  current_.resource_version = known->second.resource_version;
  boost::system::error_code bad;
  const json::value observed = json::parse(*known->second.text, bad);
  if (bad || !observed.is_object()) return Found::differs;
  const Meta meta = meta_of(observed.get_object());
  current_.uid = meta.uid;
  if (foreign(step, observed.get_object())) return Found::ended;
  if (meta.terminating) {
    retry(step.name.text() + " is being deleted", leaving_wait);
    return Found::ended;
  }
  const uint64_t projected = projection(&observed, step.object);
  const bool unchanged = same ? projected == applied->second.projected
                              : applied == report_.applied.end() && meta.hash == hex(rendered) &&
                                    projected == rendered;
  if (unchanged && of_this_history(meta.made_of)) {
    report_.applied[path] = {rendered, projected, meta.uid, meta.resource_version, meta.made_of};
    uids_[step_] = meta.uid;
    return Found::same;
  }
  if (step.mode == Mode::apply && fenced(step.name, meta)) return Found::ended;
  return same && !unchanged ? drifted(step, meta, observed.get_object()) : Found::differs;
}

// No watch shows the object. If its watch is complete, the object is lost; otherwise it counts as
// applied before. It may also exist where our selector does not find it, so it is read first.
Trip::Found Trip::compare_unseen(const Step& step, uint64_t rendered) {
  const std::string path = step.name.path();
  const auto applied = report_.applied.find(path);
  const bool same = applied != report_.applied.end() && applied->second.rendered == rendered;
  const bool looked = looked_at_.contains(path);
  if (same && !looked && task_.coverage[watch_of(*step.as)] != Coverage::complete) {
    uids_[step_] = applied->second.uid;
    return Found::same;
  }
  const auto wait = task_.repairs.wait(path, shop_->host.now());
  if (same && wait.count() > 0) {
    retry("somebody keeps deleting " + step.name.text(),
          std::chrono::ceil<std::chrono::milliseconds>(wait));
    return Found::ended;
  }
  if (!looked) return Found::unseen;
  if (same) current_.changed_by = "somebody";
  return Found::differs;
}

// Somebody has changed what we applied. Repeated changes make each repair wait.
Trip::Found Trip::drifted(const Step& step, const Meta& meta, const json::object& observed) {
  const auto wait = task_.repairs.wait(step.name.path(), shop_->host.now());
  if (wait.count() > 0) {
    look_again_in(wait);
    uids_[step_] = meta.uid;
    return Found::same;
  }
  const std::string writer = last_writer(observed.at("metadata").get_object());
  current_.changed_by = writer.empty() ? "another writer under our own field manager \"" +
                                             shop_->rules.field_manager + "\" (a second agent?)"
                                       : "field manager \"" + writer + "\"";
  return Found::differs;
}

// Whether the object's stamp names the present history. If it names a history that the store has
// lost, the object is applied again, because otherwise it could never be pruned.
bool Trip::of_this_history(Cursor made_of) const {
  if (!task_.history || task_.history->empty()) return true;
  return made_of.incarnation == task_.incarnation || made_of.incarnation == task_.stream ||
         knows(*task_.history, made_of);
}

// The object as it is sent, with the stamps that change from apply to apply.
json::value Trip::body_of(const Step& step, uint64_t rendered) const {
  json::value body = step.object;
  json::object& annotations =
      body.get_object()["metadata"].get_object()["annotations"].get_object();
  annotations[stamp::version] = std::to_string(task_.version);
  if (task_.incarnation != 0) annotations[stamp::incarnation] = std::to_string(task_.incarnation);
  annotations[stamp::hash] = hex(rendered);
  return body;
}

// Sends the apply for exactly the state that was judged. Even with `force` it does not overwrite an
// object that somebody has written to or made anew since.
void Trip::send_apply(Step& step, uint64_t rendered) {
  cluster::Request q = step.name.request(DAVIT_VERB_APPLY);
  q.query = {{"fieldManager", shop_->rules.field_manager},
             {"force", shop_->rules.force ? "true" : "false"}};
  json::value body = body_of(step, rendered);
  json::object& metadata = body.get_object()["metadata"].get_object();
  if (!current_.uid.empty()) metadata["uid"] = current_.uid;
  metadata["resourceVersion"] =
      current_.resource_version.empty() ? version_of_none : current_.resource_version;
  q.body = json::serialize(body);
  request(std::move(q), [this, rendered](const cluster::Response& r) {
    applied(plan_.steps[step_], rendered, r);
  });
}

void Trip::applied(Step& step, uint64_t rendered, const cluster::Response& r) {
  switch (meaning(r, shop_->rules.force)) {
    case Meaning::fine:
      break;
    case Meaning::changed:
      return look_anew(step, r);
    case Meaning::immutable:
      if (current_.replaced) return retry(step.name.text() + " is being deleted", leaving_wait);
      if (step.replace_on_immutable) return replace(step, rendered, describe(r));
      return failed(step.name, r);
    case Meaning::absent:
      // The namespace may have been deleted since it was ensured.
      shop_->ensured.forget(ObjectName{{"", "v1", "namespaces"}, "", step.name.ns}.path());
      return retry(step.name.text() + ": " + describe(r));
    case Meaning::refused:
      if (may_take_over(step, r)) return take_over(step, rendered, r);
      [[fallthrough]];
    default:
      return failed(step.name, r);
  }
  auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  json::value observed(*std::move(object));
  const uint64_t projected = projection(&observed, step.object);
  report_.applied[step.name.path()] = {rendered, projected, meta.uid, meta.resource_version,
                                       meta.made_of};
  uids_[step_] = meta.uid;
  note_repair(step);
  remember(step.name, *step.as, step.mode == Mode::apply, std::move(observed.get_object()));
  if (meta.terminating) return retry(step.name.text() + " is being deleted", leaving_wait);
  step_on();
  next();
}

void Trip::note_repair(const Step& step) {
  if (current_.changed_by.empty()) return;
  shop_->repairs.add();
  report_.repaired.push_back({step.name.path(), step.name.text(), current_.changed_by});
}

// Keeps what the API server answered, so that the cache does not lag behind our own writes.
void Trip::remember(const ObjectName& name, const kind::Resource& as, bool attributed,
                    json::object object) {
  const Meta meta = meta_of(object);
  compact(object, as, shop_->rules.field_manager);
  const auto text = std::make_shared<const std::string>(json::serialize(object));
  know(name.path(), Task::Known{text, meta.resource_version, attributed, false});
  const size_t watch = watch_of(as);
  if (task_.coverage[watch] == Coverage::none) return;
  report_.written.push_back(
      {name.path(), static_cast<uint32_t>(watch), attributed, text, meta.resource_version});
}

}  // namespace davit::applier
