// What a reconciliation tells people at the objects themselves (events.hpp).
#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {

// The object as the kind's description and the watches know it.
EventTarget Reconciliation::target(const ObjectName& name) const {
  const size_t watch = watch_of(name);
  if (watch == Report::npos) return {};
  EventTarget out{name, task_.kind->description().resources[watch].kind, {}};
  const auto known = task_.known.find(name.path());
  if (known == task_.known.end()) return out;
  boost::system::error_code bad;
  const json::value observed = json::parse(*known->second.text, bad);
  if (!bad && observed.is_object()) out.uid = meta_of(observed.get_object()).uid;
  return out;
}

// For a record whose message is at fault, and none of its objects.
EventTarget Reconciliation::first_of_ours() const {
  EventTarget out;
  for (const kind::Resource& as : task_.kind->description().resources) {
    if (as.role != DAVIT_RESOURCE_OWNED) continue;
    for (const auto& [path, known] : task_.known) {
      if (!known.ours) continue;
      boost::system::error_code bad;
      const json::value observed = json::parse(*known.text, bad);
      if (bad || !observed.is_object()) continue;
      const Meta meta = meta_of(observed.get_object());
      const ObjectName name{{as.group, as.version, as.resource}, meta.ns, meta.name};
      const bool before = out.kind.empty() || name.name < out.name.name;
      if (name.path() == path && before) out = {name, as.kind, meta.uid};
    }
    if (!out.kind.empty()) break;
  }
  return out;
}

std::string Reconciliation::record_text() const {
  return task_.key.kind + " " + task_.ns + "/" + task_.name;
}

void Reconciliation::tell(const ObjectName& name, const std::string& uid, std::string reason,
                          std::string message) {
  EventTarget about = target(name);
  if (!uid.empty()) about.uid = uid;
  report_.events.push_back({std::move(about), false, std::move(reason), std::move(message)});
}

// A delete that the control plane has asked for is no news to anybody.
void Reconciliation::tell_pruned(const Removal& removal) {
  if (removal.as->role != DAVIT_RESOURCE_OWNED) return;
  if (task_.intent == Intent::remove && !task_.pruned) return;
  tell(removal.name, {}, "Pruned",
       task_.pruned ? "deleted: the control plane no longer has " + record_text()
                    : "deleted: " + record_text() + " no longer has this object");
}

}  // namespace davit::applier
