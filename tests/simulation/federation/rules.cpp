#include "rules.hpp"

namespace davit::simulation::federation {

namespace {

// What one change is worth: look, write, read after a conflict, write again, on both sides.
constexpr double requests_a_change = 8, requests_at_first = 20, requests_when_stirred = 12;
constexpr double requests_a_second = 0.2;  // what fails is tried again, less and less
constexpr double requests_kept = 200;

std::string display(const cluster::Request& q) {
  return q.verb + (q.subresource.empty() ? "" : " of the " + q.subresource);
}

json::value parsed(const std::string& text) {
  boost::system::error_code bad;
  json::value out = json::parse(text, bad);
  return bad ? json::value() : out;
}

}  // namespace

void Rules::fault(const Writer& by, const Kind& kind, const std::string& name,
                  const std::string& what) {
  story_.fault("federation of " + robot_name(by.robot) + ", " + kind.resource.resource + " " +
               name + (by.cloud ? " in the cloud: " : " on the robot: ") + what);
}

void Rules::allow(const Key& key, double more) {
  Allowance& a = allowances_[key];
  const auto passed = std::chrono::duration<double>(now_() - a.at).count();
  const uint64_t stirred = stirred_[std::get<0>(key)];
  if (!std::exchange(a.known, true)) {
    a.left = requests_at_first;
  } else {
    a.left += passed * requests_a_second +
              static_cast<double>(stirred - a.stirred) * requests_when_stirred;
  }
  a.left = std::min(a.left + more, requests_kept);
  a.at = now_();
  a.stirred = stirred;
}

// The Lease in the cloud by which a robot claims its name.
bool claims_name(const Rules::Writer& by, const cluster::Request& q) {
  const std::string name = q.name.empty() ? text_at(parsed(q.body), "/metadata/name") : q.name;
  return q.resource.resource == "leases" && by.cloud &&
         name == "davit-federation-" + robot_name(by.robot);
}

// No storms: requests have reasons.
void Rules::asked(const Writer& by, const cluster::Request& q) {
  ++requests_;
  const Kind* kind = kind_of(q.resource);
  if (kind == nullptr && claims_name(by, q)) return;
  if (kind == nullptr) return fault(by, kinds().front(), q.resource.resource, "does not take part");
  ++requests_of_[kind];
  const std::string name = q.name.empty() ? text_at(parsed(q.body), "/metadata/name") : q.name;
  story_.tell("federation of " + robot_name(by.robot) + " asks for " + display(q) + " " +
              kind->resource.resource + " " + name + (by.cloud ? " in the cloud" : ""));
  const Key key{by.robot, kind, name};
  allow(key, 0);
  if ((allowances_[key].left -= 1) < 0) {
    allowances_[key].left = 0;
    fault(by, *kind, name, "more requests than there is reason for");
  }
}

void Rules::changed(std::optional<size_t> robot, const Kind& kind, const std::string& name,
                    uint64_t version) {
  const bool own = own_.contains({robot.value_or(robots), version});
  for (size_t i = 0; i < robots; ++i) {
    const bool others = kind.filtered || robot == i || !own;
    if (!robot || robot == i) allow({i, &kind, name}, !own ? requests_a_change : others ? 0 : 2);
  }
}

void Rules::carried_out(const Writer& by, const cluster::Request& q, const cluster::Response& r) {
  const Kind* kind = kind_of(q.resource);
  if (kind == nullptr) return;
  if (r.code != Code::ok) {
    return story_.tell("federation of " + robot_name(by.robot) + ": " + display(q) + " " +
                       kind->resource.resource + " " + q.name + ": " + r.message);
  }
  if (q.verb == DAVIT_VERB_GET) return;
  json::value after = parsed(r.body);
  const std::string name = q.name.empty() ? text_at(after, "/metadata/name") : q.name;
  const json::value before = (by.cloud ? cloud_ : robots_[by.robot]).now(*kind, name);
  own_.insert({by.cloud ? robots : by.robot, version_of(after)});
  story_.tell("federation of " + robot_name(by.robot) + ": " + display(q) + " " +
              kind->resource.resource + " " + name + (by.cloud ? " in the cloud" : "") + " at " +
              std::to_string(version_of(after)));
  if (by.cloud == !kind->swapped) {
    if (q.verb != DAVIT_VERB_UPDATE) return fault(by, *kind, name, q.verb + " upstream");
    return wrote_up(by, *kind, name, before, after);
  }
  wrote_down(by, *kind, name, q.verb, before, after);
}

// People's own, which federation must leave alone.
bool Rules::of_others(size_t robot, const Kind& kind, const json::value& object) const {
  if (!made_of(object).empty()) return false;
  return !kind.defined || !selects(kind, robot, object);
}

// Each write names the cluster that the spec is of: always the same, and that of no other. What
// names another one is not touched.
std::string Rules::wrong_origin(const Writer& by, const Kind& kind, const json::value& before,
                                const json::value& after) {
  const std::string origin = origin_of(after);
  if (!kind.shares_target()) return origin.empty() ? "" : "it names a cluster without need";
  if (origin.empty()) return "it does not name its cluster";
  if (const std::string was = origin_of(before); !was.empty() && was != origin)
    return "it was of another cluster";
  const size_t source = kind.swapped ? by.robot : robots;
  for (const auto& [other, name] : origins_)
    if ((other == source) != (name == origin)) return "it names a wrong cluster";
  origins_[source] = origin;
  return {};
}

void Rules::wrote_down(const Writer& by, const Kind& kind, const std::string& name,
                       const std::string& verb, const json::value& before,
                       const json::value& after) {
  if (!before.is_null() && of_others(by.robot, kind, before))
    return fault(by, kind, name, verb + " of an object of others");
  if (verb == DAVIT_VERB_DELETE) {
    const std::string why = not_to_be_deleted(by.robot, kind, name, before);
    return why.empty() ? void() : fault(by, kind, name, "it is deleted, and " + why);
  }
  if (!before.is_null()) {
    if (!made_of(before).empty() && made_of(before) != made_of(after))
      return fault(by, kind, name, "it is of a former object, and is updated to another one's");
    for (const char* kept : {"/metadata/finalizers", "/metadata/ownerReferences", "/status"}) {
      if (value_at(before, kept) != value_at(after, kept))
        return fault(by, kind, name, std::string("an update of the spec changes ") + kept);
    }
  }
  if (const std::string why = wrong_origin(by, kind, before, after); !why.empty())
    return fault(by, kind, name, why);
  const json::value content = content_of(kind, after);
  Copied& copied = specs_[{by.robot, &kind, name}];
  if (copied.uid != uid_of(after)) copied = {uid_of(after), by.robot, 0};
  bool ever = false;
  for (const auto& u : upstream(kind, by.robot).all(kind, name)) {
    if (!u.there || wanted_of(kind, u.object) != content) continue;
    ever = true;
    if (u.version < copied.at_least) continue;
    copied.at_least = u.version;
    if (before.is_null()) made_from_[uid_of(after)] = u.version;
    return;
  }
  fault(by, kind, name,
        ever ? "an older spec is written over a newer one"
             : "upstream has never had what is written");
}

// Why the object should live; empty: upstream has lacked it since it was made.
std::string Rules::not_to_be_deleted(size_t robot, const Kind& kind, const std::string& name,
                                     const json::value& object) const {
  if (object.is_null()) return {};
  const std::string uid = uid_of(object);
  const auto& down = downstream(kind, robot);
  const auto& up = upstream(kind, robot);
  const auto first = std::ranges::find_if(
      down.all(kind, name), [&](const auto& version) { return uid_of(version.object) == uid; });
  if (first == down.all(kind, name).end()) return {};
  // Of what people have made, who catches up does not know that its original is older.
  const auto& [late_from, late_until] = late_[robot];
  const bool late = made_of(object).empty() && now_() <= late_until;
  const Time made = late ? std::min(first->at, late_from) : first->at;
  // Who catches up makes it of an older version, and then sees the versions that followed.
  const auto source = made_from_.find(uid);
  const std::string of = made_of(object);
  const auto& versions = up.all(kind, name);
  for (size_t i = 0; i < versions.size(); ++i) {
    const auto& u = versions[i];
    const bool over = i + 1 < versions.size() && versions[i + 1].at < made;
    if (over && (source == made_from_.end() || u.version <= source->second)) continue;
    if (i == 0 && u.at > made) return {};
    if (!u.there || terminating(u.object) || !selects(kind, robot, u.object)) return {};
    if (!of.empty() && of != uid_of(u.object)) return {};
  }
  return versions.empty() ? "" : "upstream has had it all the time";
}

void Rules::wrote_up(const Writer& by, const Kind& kind, const std::string& name,
                     const json::value& before, const json::value& after) {
  if (version_of(before) == version_of(after)) return;
  const auto plain = [](json::value object) {
    json::object& meta = object.at("metadata").as_object();
    for (const char* changes : {"resourceVersion", "generation", "managedFields"})
      meta.erase(changes);
    json::value annotations = or_empty(value_at(object, "/metadata/annotations"));
    meta["annotations"] =
        without(annotations, "cr-syncer.cloudrobotics.com/remote-resource-version");
    return without(object, "status");
  };
  if (before.is_null() || plain(before) != plain(after))
    return fault(by, kind, name, "a write of the status changes something else upstream");
  if (!selects(kind, by.robot, before))
    return fault(by, kind, name, "a status of a robot that the object is not of");
  check_status(by, kind, name, before, after);
}

void Rules::check_status(const Writer& by, const Kind& kind, const std::string& name,
                         const json::value& before, const json::value& after) {
  const json::value status = value_at(after, "/status");
  const json::value said = told(kind, by.robot, after);
  if (kind.status == Way::subtree) {
    if (without(or_empty(value_at(before, "/status")), robot_name(by.robot)) !=
        without(or_empty(status), robot_name(by.robot)))
      return fault(by, kind, name, "another part of the status is changed");
  }
  Copied& copied = statuses_[{kind.status == Way::subtree ? by.robot : robots, &kind, name}];
  if (copied.uid != uid_of(after) || copied.robot != by.robot)
    copied = {uid_of(after), by.robot, 0};
  const int64_t observed = observed_generation(status);
  const bool equal = kind.status != Way::subtree && observed > 0;
  if (equal && observed != generation_of(after))
    return fault(by, kind, name, "observedGeneration is neither the generation nor 0");
  bool ever = false, of_former = false;
  for (const auto& d : downstream(kind, by.robot).all(kind, name)) {
    if (!d.there || value_at(d.object, "/status").is_null()) continue;
    if (told(kind, by.robot, d.object) != said) continue;
    of_former = of_former || made_of(d.object) != uid_of(after);
    if (made_of(d.object) != uid_of(after)) continue;
    const bool in_step =
        observed_generation(value_at(d.object, "/status")) == generation_of(d.object) &&
        value_at(d.object, "/" + kind.field) == value_at(after, "/" + kind.field);
    if (equal && (!in_step || kind.status == Way::whole)) continue;
    ever = true;
    if (d.version < copied.at_least) continue;
    copied.at_least = d.version;
    return;
  }
  fault(by, kind, name,
        ever        ? "an older status is written over a newer one"
        : equal     ? "observedGeneration says that a spec was observed that was not"
        : of_former ? "a status of a former object"
                    : "downstream has never had this status");
}

}  // namespace davit::simulation::federation
