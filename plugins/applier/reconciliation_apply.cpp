// The applying half of a reconciliation. Each object of the plan is compared with what is in the
// cluster, read with a GET where no watch can show it, and applied when it differs.
#include <boost/json.hpp>

#include "reconciliation.hpp"

#include "kubernetes/json.hpp"

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
bool Reconciliation::ensure(const Step& step) {
  const std::string path = step.name.path();
  if (context_->ensured.contains(path) || task_.known.contains(path)) return true;
  request(step.name.request_compact(DAVIT_VERB_GET), [this](const cluster::Response& r) {
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
void Reconciliation::create(const ObjectName& name, bool looked) {
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = name.resource;
  q.ns = name.ns;
  q.query = {{"fieldManager", context_->rules.field_manager}};
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

void Reconciliation::ensured(const ObjectName& name) {
  context_->ensured.add(name.path());
  step_on();
  next();
}

bool Reconciliation::apply(Step& step) {
  if (current_.replaced || current_.taken_over) {  // the same object once more; it has its stamps
    send_apply(step, fingerprint(step.shape()));
    return false;
  }
  if (!stamp_it(step)) return false;
  step.update_shape();
  const std::string path = step.name.path();
  const auto applied = report_.applied.find(path);
  const Applied* before = applied == report_.applied.end() ? nullptr : &applied->second;
  const bool expired = before != nullptr && before->valid_until_unix_ms > 0 &&
                       before->valid_until_unix_ms <= context_->host.unix_ms();
  const LastApply last{before, task_.repairs.wait(path, context_->host.now()), expired};
  const WantedObject wanted{fingerprint(step.shape()), step.mode == Mode::shared,
                            context_->rules.adopt};
  ObjectState state = state_of(step);
  Drift found = drift(wanted, state, last, knowledge());
  if (found == Drift::examine) {
    state.content = examine(step);
    if (!state.content) return false;
    found = drift(wanted, state, last, knowledge());
  }
  return act(step, found, wanted, state, last);
}

bool Reconciliation::act(Step& step, Drift found, const WantedObject& wanted,
                         const ObjectState& state, const LastApply& last) {
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(last.repair_wait);
  switch (found) {
    case Drift::none:
      found_as_wanted(step, wanted, state, last);
      return true;
    case Drift::repair_later:
      look_again_in(last.repair_wait);
      uids_[step_] = current_.uid;
      context_->skips.add();
      return true;
    case Drift::read:
      if (!look_first(step.name, *step.as)) send_apply(step, wanted.rendered);
      break;
    case Drift::repair:
      current_.changed_by = who_changed(step);
      [[fallthrough]];
    case Drift::apply:
      send_apply(step, wanted.rendered);
      break;
    case Drift::remake_later:
      retry("somebody keeps deleting " + step.name.text(), wait);
      break;
    case Drift::terminating:
      retry(step.name.text() + " is being deleted", leaving_wait);
      break;
    default:
      leave_alone(step.name, found, state.content->owner, state.content->made_of);
  }
  return false;
}

void Reconciliation::found_as_wanted(const Step& step, const WantedObject& wanted,
                                     const ObjectState& state, const LastApply& last) {
  context_->skips.add();
  if (step.mode == Mode::shared) report_.shares.push_back(step.name.path());
  if (!state.content) {
    uids_[step_] = last.applied->uid;
    return;
  }
  uids_[step_] = current_.uid;
  const int64_t until = last.applied == nullptr ? 0 : last.applied->valid_until_unix_ms;
  report_.applied[step.name.path()] = {wanted.rendered,        state.content->projected,
                                       current_.uid,           state.resource_version,
                                       state.content->made_of, until};
}

// Adds the owner and those stamps that are the same in every apply. False: the reconciliation has
// ended.
bool Reconciliation::stamp_it(Step& step) {
  json::object& metadata = step.object.get_object()["metadata"].get_object();
  json::object& labels = kubernetes::object_made(metadata, "labels");
  labels[stamp::region] = claim_.region;
  if (step.mode == Mode::apply) labels[stamp::kind] = claim_.kind;
  json::object& annotations = kubernetes::object_made(metadata, "annotations");  // may move them
  if (step.mode == Mode::apply) {
    annotations[stamp::id] = task_.key.id;
    annotations[stamp::record] = claim_.record;
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

ObjectState Reconciliation::state_of(const Step& step) const {
  using Presence = ObjectState::Presence;
  const std::string path = step.name.path();
  const auto known = task_.known.find(path);
  if (known != task_.known.end()) return {Presence::known, known->second.resource_version, {}};
  if (looked_at_.contains(path)) return {Presence::absent, {}, {}};
  const bool shown = task_.coverage[watch_of(*step.as)] == Coverage::complete;
  return {shown ? Presence::hidden : Presence::unseen, {}, {}};
}

std::optional<ObjectContent> Reconciliation::examine(const Step& step) {
  const Task::Known& known = task_.known.at(step.name.path());
  current_.resource_version = known.resource_version;
  boost::system::error_code bad;
  const json::value observed = json::parse(*known.text, bad);
  if (bad || !observed.is_object()) return ObjectContent();
  const Meta meta = meta_of(observed.get_object());
  current_.uid = meta.uid;
  auto owner = owner_of(observed.get_object());
  if (!owner) return std::nullopt;
  return ObjectContent{std::move(*owner), meta.region == claim_.region,
                       meta.terminating,  projection(&observed, step.shape()),
                       meta.hash,         meta.made_of};
}

// Who has made the change that is to be repaired.
std::string Reconciliation::who_changed(const Step& step) const {
  const auto known = task_.known.find(step.name.path());
  if (known == task_.known.end()) return "somebody";
  boost::system::error_code bad;
  const json::value observed = json::parse(*known->second.text, bad);
  const json::value* metadata = bad ? nullptr : observed.find_pointer("/metadata", bad);
  const bool has_metadata = metadata != nullptr && metadata->is_object();
  const std::string writer = has_metadata ? last_writer(metadata->get_object()) : std::string();
  if (!writer.empty()) return "field manager \"" + writer + "\"";
  return "another writer under our own field manager \"" + context_->rules.field_manager +
         "\" (a second agent?)";
}

// The object as it is sent, with the stamps that change from apply to apply.
json::value Reconciliation::body_of(const Step& step, uint64_t rendered) const {
  json::value body = step.object;
  json::object& annotations =
      body.get_object()["metadata"].get_object()["annotations"].get_object();
  annotations[stamp::version] = to_string(task_.version);
  if (task_.incarnation) annotations[stamp::incarnation] = to_string(task_.incarnation);
  annotations[stamp::hash] = hex(rendered);
  return body;
}

// Sends the apply for exactly the state that was judged. Even with `force` it does not overwrite an
// object that somebody has written to or made anew since.
void Reconciliation::send_apply(const Step& step, uint64_t rendered) {
  if (!step.secrets.empty()) return resolve(step, rendered);
  request_apply(step, rendered, apply_body(step, rendered));
}

std::string Reconciliation::apply_body(const Step& step, uint64_t rendered) const {
  json::value body = body_of(step, rendered);
  json::object& metadata = body.get_object()["metadata"].get_object();
  if (!current_.uid.empty()) metadata["uid"] = current_.uid;
  metadata["resourceVersion"] =
      current_.resource_version.empty() ? version_of_none : current_.resource_version;
  return json::serialize(body);
}

void Reconciliation::request_apply(const Step& step, uint64_t rendered, std::string_view body) {
  cluster::Request q = step.name.request_compact(DAVIT_VERB_APPLY);
  q.query = {{"fieldManager", context_->rules.field_manager},
             {"force", context_->rules.force ? "true" : "false"}};
  request(std::move(q), body, [this, rendered](const cluster::Response& r) {
    applied(plan_.steps[step_], rendered, r);
  });
}

void Reconciliation::applied(Step& step, uint64_t rendered, const cluster::Response& r) {
  switch (meaning(r, context_->rules.force)) {
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
      context_->ensured.forget(ObjectName{{"", "v1", "namespaces"}, "", step.name.ns}.path());
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
  if (metadata_only(step.as->group, step.as->resource))
    compact(*object, *step.as, context_->rules.field_manager);
  json::value observed(*std::move(object));
  const uint64_t projected = projection(&observed, step.shape());
  report_.applied[step.name.path()] = {rendered,     projected,
                                       meta.uid,     meta.resource_version,
                                       meta.made_of, current_.valid_until_unix_ms};
  uids_[step_] = meta.uid;
  if (step.mode == Mode::shared) report_.shares.push_back(step.name.path());
  if (!current_.cannot_change.empty())
    tell(step.name, meta.uid, "Replaced",
         "deleted and made anew, because it cannot be changed: " + current_.cannot_change);
  note_repair(step);
  remember(step.name, *step.as, step.mode == Mode::apply, std::move(observed.get_object()));
  if (meta.terminating) return retry(step.name.text() + " is being deleted", leaving_wait);
  step_on();
  next();
}

void Reconciliation::note_repair(const Step& step) {
  if (current_.changed_by.empty()) return;
  context_->repairs.add();
  report_.repaired.push_back({step.name.path(), step.name.text(), current_.changed_by});
  tell(step.name, uids_[step_], "Repaired",
       "changed back to what " + record_text() + " wants, after " + current_.changed_by +
           " had changed it");
}

// Keeps what the API server answered, so that the cache does not lag behind our own writes.
void Reconciliation::remember(const ObjectName& name, const kind::Resource& as, bool attributed,
                              json::object object) {
  const Meta meta = meta_of(object);
  compact(object, as, context_->rules.field_manager);
  const auto text = std::make_shared<const std::string>(json::serialize(object));
  know(name.path(), Task::Known{text, meta.resource_version, attributed, false});
  const size_t watch = watch_of(as);
  if (task_.coverage[watch] == Coverage::none) return;
  report_.written.push_back(
      {name.path(), static_cast<uint32_t>(watch), attributed, text, meta.resource_version});
}

}  // namespace davit::applier
