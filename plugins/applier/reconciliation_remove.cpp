// The deleting half of a reconciliation: it deletes the objects that the record no longer wants.
#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {

bool Reconciliation::remove(const Removal& removal) {
  const std::string path = removal.name.path();
  const auto known = task_.known.find(path);
  if (known == task_.known.end()) {
    const bool shown = task_.coverage[watch_of(*removal.as)] == Coverage::complete;
    if (shown || removal.as->role != DAVIT_RESOURCE_OWNED ||
        !look_first(removal.name, *removal.as)) {
      report_.applied.erase(path);
      return true;
    }
    return false;
  }
  boost::system::error_code bad;
  const json::value observed = json::parse(*known->second.text, bad);
  if (bad || !observed.is_object()) return true;
  const Meta meta = meta_of(observed.get_object());
  if (meta.terminating) return true;
  if (not_ours_to_delete(removal, observed.get_object(), known->second.ours)) return false;
  const bool seen = removal.as->role == DAVIT_RESOURCE_SEEN;
  // A seen object (a pod) changes all the time, so its delete names the uid only.
  send_delete(removal.name, meta.uid, seen ? std::string() : meta.resource_version, "Background",
              [this](const cluster::Response& r) { removed(plan_.removals[removal_], r); });
  return false;
}

void Reconciliation::send_delete(const ObjectName& name, const std::string& uid,
                                 const std::string& resource_version, const char* propagation,
                                 std::function<void(const cluster::Response&)> then) {
  json::object preconditions{{"uid", uid}};
  if (!resource_version.empty()) preconditions["resourceVersion"] = resource_version;
  cluster::Request q = name.request(DAVIT_VERB_DELETE);
  q.body = json::serialize(json::object{{"apiVersion", "v1"},
                                        {"kind", "DeleteOptions"},
                                        {"propagationPolicy", propagation},
                                        {"preconditions", std::move(preconditions)}});
  request(std::move(q), std::move(then));
}

void Reconciliation::removed(const Removal& removal, const cluster::Response& r) {
  const Meaning m = meaning(r, true);
  if (m != Meaning::fine && m != Meaning::absent) return failed(removal.name, r);
  const std::string path = removal.name.path();
  tell_pruned(removal);
  report_.applied.erase(path);
  boost::system::error_code bad;
  json::value object = m == Meaning::fine ? json::parse(r.body, bad) : json::value();
  if (!bad && object.is_object() && meta_of(object.get_object()).terminating) {
    remember(removal.name, *removal.as, true, std::move(object.get_object()));  // terminating
  } else {
    report_.written.push_back({path, static_cast<uint32_t>(watch_of(*removal.as)), true, nullptr,
                               task_.known[path].resource_version});
    know(path, std::nullopt);
  }
  ++removal_;
  next();
}

}  // namespace davit::applier
