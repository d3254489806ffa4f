// Whose an object is: before a trip touches one it looks at the object itself, whatever brought it
// there. What belongs to somebody else, or was made of a later version, is left as it is, and the
// record is parked with the owner's name.
#include <boost/json.hpp>

#include "trip.hpp"

namespace davit::applier {
namespace {
constexpr std::chrono::seconds word_wait{5};  // the hub looks again as soon as it has the word
}  // namespace

// Whether the kind tells this record from the object's own name and labels.
bool Trip::named_like_the_record(const json::object& object) const {
  const auto named = task_.kind->attribute(json::serialize(object));
  return named.ok() && named->ns == task_.ns && named->name == task_.name;
}

// Empty: nobody but this record has stamped it. The annotation that names the record counts for
// less than the object's own name: somebody may have edited it, and our apply puts it right.
std::string Trip::owner_of(const json::object& object) const {
  Meta meta = meta_of(object);
  if (meta.record != claim_.record && named_like_the_record(object)) meta.record.clear();
  return other_owner(meta, claim_);
}

bool Trip::foreign(const Step& step, const json::object& object) {
  if (const std::string owner = owner_of(object); !owner.empty()) {
    park_as_foreign(step.name, step.name.text() + " belongs to " + owner);
    return true;
  }
  const bool stamped = meta_of(object).region == claim_.region;
  if (stamped || shop_->rules.adopt) return false;
  park_as_foreign(step.name, step.name.text() + " exists and is not ours (adopt = false)");
  return true;
}

// A delete needs more: no stamp that contradicts, the region's own, and a name that the kind knows
// the record by, or this process's own word that it has made the object. `attributed`: what is only
// seen (a pod) has no stamps.
bool Trip::not_ours_to_delete(const Removal& removal, const json::object& object, bool attributed) {
  const Meta meta = meta_of(object);
  std::string why;
  if (removal.as->role == DAVIT_RESOURCE_SEEN) {
    if (!attributed) why = "it is not ours";
  } else if (const std::string owner = other_owner(meta, claim_); !owner.empty()) {
    why = "it belongs to " + owner;
  } else if (meta.region.empty()) {
    why = "nobody has stamped it as ours";
  } else if (const auto applied = report_.applied.find(removal.name.path());
             (applied == report_.applied.end() || applied->second.uid != meta.uid) &&
             !named_like_the_record(object)) {
    why = "its name is not one of this record's";
  }
  if (why.empty()) return removal.as->role == DAVIT_RESOURCE_OWNED && fenced(removal.name, meta);
  park_on(removal.name, removal.name.text() + " is not deleted: " + why);
  return true;
}

Knowledge Trip::knowledge() const {
  return {task_.fence, task_.incarnation, task_.stream, task_.history.get(), task_.strangers.get()};
}

// An agent that lags behind another one takes nothing back.
bool Trip::fenced(const ObjectName& name, const Meta& meta) {
  const Knowledge known = knowledge();
  if (cannot_be_placed(meta.made_of, known)) {
    report_.unplaced = meta.made_of.incarnation;
    retry(
        name.text() + " is made of version " + std::to_string(meta.made_of.version) +
            " of a store, or of a start of it, that this agent has not heard of: it is left as it "
            "is until the control plane has spoken",
        word_wait);
    return true;
  }
  if (!made_later(meta.made_of, known)) return false;
  park_on(name, name.text() + " is made of version " + std::to_string(meta.made_of.version) +
                    ", and this agent knows of none later than " + std::to_string(task_.fence) +
                    ": it is left as it is");
  return true;
}

// What is not touched now may be made of an incarnation that this agent has not heard of, too. The
// control plane's word takes a while, and is to be there when the object may be touched again.
void Trip::note_unplaced() {
  for (const auto& [path, known] : task_.known) {
    if (!known.ours || known.text->find(stamp::incarnation) == std::string::npos) continue;
    boost::system::error_code bad;
    const json::value object = json::parse(*known.text, bad);
    if (bad || !object.is_object()) continue;
    const Cursor made_of = meta_of(object.get_object()).made_of;
    if (cannot_be_placed(made_of, knowledge())) report_.unplaced = made_of.incarnation;
  }
}

// What stands around another's object (its pods) is not this record's either.
void Trip::park_as_foreign(const ObjectName& name, const std::string& why) {
  for (auto& [path, known] : task_.known) known.ours = false;
  if (auto output = task_.kind->reconcile(input(desired_)); output.ok()) {
    if (auto plan = read_plan(*output, task_.kind->description()); plan.ok())
      report_.status = std::move(plan->status);
  }
  park_on(name, why);
}

}  // namespace davit::applier
