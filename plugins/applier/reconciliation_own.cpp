// Decides whose an object is. Before a reconciliation touches an object it looks at the object
// itself, whatever brought it there. An object that belongs to somebody else or was made of a later
// version is left as it is. The record is then parked, and the reason names the owner or the
// version.
#include <algorithm>

#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {
namespace {
// The hub starts the next reconciliation earlier if the server confirms its incarnation.
constexpr std::chrono::seconds word_wait{5};
}  // namespace

// The records that the object belongs to by its own name and labels.
std::optional<std::vector<Named>> Reconciliation::records_of(const json::object& object) {
  auto records = task_.kind->attribute(json::serialize(object));
  if (records.ok()) return std::move(*records);
  if (!retryable(records.error().code)) return std::vector<Named>();
  delay("kind: " + records.error().message, records.error().retry_after);
  return std::nullopt;
}

// Whether this record is one of them.
std::optional<bool> Reconciliation::named_like_the_record(const json::object& object) {
  const auto records = records_of(object);
  if (!records) return std::nullopt;
  return std::any_of(records->begin(), records->end(),
                     [this](const Named& each) { return is_this_record(each); });
}

// The other owner of the object; empty: none. The object's own name counts for more than the
// annotation that names the record: somebody may have edited the annotation, and our apply corrects
// it.
std::optional<std::string> Reconciliation::owner_of(const json::object& object) {
  Meta meta = meta_of(object);
  if (meta.record != claim_.record) {
    const auto named = named_like_the_record(object);
    if (!named) return std::nullopt;
    if (*named) meta.record.clear();
  }
  return other_owner(meta, claim_);
}

bool Reconciliation::foreign(const Step& step, const json::object& object) {
  const auto owner = owner_of(object);
  if (!owner) return true;
  const Drift why =
      ownership(*owner, meta_of(object).region == claim_.region, context_->rules.adopt);
  if (why == Drift::none) return false;
  leave_alone(step.name, why, *owner, {});
  return true;
}

// Ends the reconciliation without touching the object.
void Reconciliation::leave_alone(const ObjectName& name, Drift why, const std::string& owner,
                                 Cursor made_of) {
  const std::string object = name.text();
  const std::string made = object + " is made of version " + to_string(made_of.version);
  switch (why) {
    case Drift::foreign:
      return park_as_foreign(name, object + " belongs to " + owner);
    case Drift::not_adopted:
      return park_as_foreign(name, object + " exists and is not ours (adopt = false)");
    case Drift::unplaced:
      report_.unplaced = made_of.incarnation;
      return retry(
          made +
              " of a store, or of a start of it, that this agent has not heard of: it is left as "
              "it is until the control plane has confirmed its own state, within a minute",
          word_wait);
    default:
      return park_on(name, made + ", and this agent knows of none later than " +
                               to_string(task_.fence) + ": it is left as it is");
  }
}

// A delete needs more than an apply: no stamp that contradicts, the region's stamp, and either a
// name by which the kind knows the record or the fact that this process has applied the object. An
// object that is only seen (a pod) has no stamps: `attributed` decides. What several records share
// is not deleted for one of them.
bool Reconciliation::not_ours_to_delete(const Removal& removal, const json::object& object,
                                        bool attributed) {
  const Meta meta = meta_of(object);
  const auto records = records_of(object);
  if (!records) return true;
  const auto other = std::find_if(records->begin(), records->end(),
                                  [this](const Named& each) { return !is_this_record(each); });
  const bool named = std::any_of(records->begin(), records->end(),
                                 [this](const Named& each) { return is_this_record(each); });
  const auto applied = report_.applied.find(removal.name.path());
  const bool made = applied != report_.applied.end() && applied->second.uid == meta.uid;
  std::string why;
  if (named && other != records->end()) {
    why = "it is also a part of " + other->ns + "/" + other->name;
  } else if (removal.as->role == DAVIT_RESOURCE_SEEN) {
    if (!attributed) why = "it is not ours";
  } else if (const std::string owner = other_owner(meta, claim_); !owner.empty()) {
    why = "it belongs to " + owner;
  } else if (meta.region.empty()) {
    why = "nobody has stamped it as ours";
  } else if (!made && !named) {
    why = "its name is not one of this record's";
  }
  if (why.empty())
    return removal.as->role == DAVIT_RESOURCE_OWNED && fenced(removal.name, meta.made_of);
  park_on(removal.name, removal.name.text() + " is not deleted: " + why);
  return true;
}

Knowledge Reconciliation::knowledge() const {
  return {task_.fence, task_.incarnation, task_.stream, task_.history.get(),
          task_.foreign_incarnations.get()};
}

// The fence: an agent that lags behind another one takes nothing back.
bool Reconciliation::fenced(const ObjectName& name, Cursor made_of) {
  const Drift why = fence(made_of, knowledge());
  if (why == Drift::none) return false;
  leave_alone(name, why, {}, made_of);
  return true;
}

// An object that this reconciliation does not touch may also name an unknown incarnation. The
// server's confirmation takes a while, so the wait begins now and not when the object may be
// touched again.
void Reconciliation::note_unplaced() {
  for (const auto& [path, known] : task_.known) {
    if (!known.ours || known.text->find(stamp::incarnation) == std::string::npos) continue;
    boost::system::error_code bad;
    const json::value object = json::parse(*known.text, bad);
    if (bad || !object.is_object()) continue;
    const Cursor made_of = meta_of(object.get_object()).made_of;
    if (cannot_be_placed(made_of, knowledge())) report_.unplaced = made_of.incarnation;
  }
}

// The pods around an object of somebody else are not this record's either, so the status leaves
// them out.
void Reconciliation::park_as_foreign(const ObjectName& name, const std::string& why) {
  for (auto& [path, known] : task_.known) known.ours = false;
  if (auto output = task_.kind->reconcile(input(desired_)); output.ok()) {
    if (auto plan = read_plan(*output, task_.kind->description());
        plan.ok() && plan->needs.empty()) {
      report_.status = std::move(plan->status);
    }
  }
  park_on(name, why);
}

}  // namespace davit::applier
