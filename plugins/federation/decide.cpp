#include "decide.hpp"

#include <boost/json.hpp>

#include "kubernetes/json.hpp"

namespace davit::federation {
namespace {

Action only(Does does, Standing standing, std::string why) {
  Action out;
  out.does = does;
  out.standing = standing;
  out.why = std::move(why);
  return out;
}

size_t status_hash(const json::value& status) {
  return hash_of(json::object{{"status", status}});
}

// The downstream object has to go.
Action removal(const Picture& p, const Written& written, std::string why) {
  const json::object& d = *p.downstream;
  if (!p.upstream_complete)
    return only(Does::wait, Standing::unknown, "upstream is not seen, so nothing is deleted");
  if (!p.downstream_complete)
    return only(Does::wait, Standing::unknown, "downstream is not seen, so nothing is deleted");
  if (terminating(d))
    return only(Does::wait, Standing::finalizer, "a finalizer holds the downstream object");
  if (written.removed == uid_of(d) && !written.removed.empty())
    return only(Does::wait, Standing::ahead, "its delete has not been seen yet");
  Action out = only(Does::remove, Standing::ahead, std::move(why));
  out.uid = uid_of(d);
  out.resource_version = version_of(d);
  return out;
}

// observedGeneration as it is meant upstream: equal to the generation exactly if downstream has
// observed a spec that equals upstream's present one.
void map_generation(const Rules& rules, const Picture& p, bool in_step, json::value& status) {
  json::object* object = status.if_object();
  json::value* observed = object == nullptr ? nullptr : object->if_contains("observedGeneration");
  if (observed == nullptr || !(observed->is_int64() || observed->is_uint64())) return;
  // Without the subresource a write of the status counts as a new generation, so that no number
  // would ever stay equal.
  const bool seen = in_step && rules.status == StatusWrite::subresource &&
                    kubernetes::as_integer(*observed) == generation_of(*p.downstream);
  *observed = seen ? generation_of(*p.upstream) : 0;
}

// Puts the subtree of the downstream status into the upstream one. False: `status` is as upstream.
bool graft(const Rules& rules, const json::object& from, json::object& status) {
  const json::value* part = member(from, rules.subtree);
  const json::value* there = member(status, rules.subtree);
  if (part == nullptr && there == nullptr) return false;
  if (part != nullptr && there != nullptr && *part == *there) return false;
  if (part == nullptr) {
    status.erase(rules.subtree);
  } else {
    status[rules.subtree] = *part;
  }
  return true;
}

Action status_up(const Rules& rules, const Picture& p, const Written& written, bool in_step) {
  const json::value* from = member(*p.downstream, "status");
  // An object that was just made has no status, which says nothing of upstream's.
  if (rules.status == StatusWrite::none || p.hidden || from == nullptr) return {};
  if (rules.match_uid && made_of(*p.downstream) != uid_of(*p.upstream))
    return only(Does::wait, Standing::ahead,
                "the downstream object is not known to be of this upstream object");
  const json::value* to = member(*p.upstream, "status");
  json::value status;
  if (rules.subtree.empty()) {
    status = *from;
    if (rules.map_generation) map_generation(rules, p, in_step, status);
    if (to != nullptr && *to == status) return {};
  } else {
    if (!from->is_object())
      return only(Does::stuck, Standing::stuck, "the downstream status is not a JSON object");
    if (to != nullptr && !to->is_object())
      return only(Does::stuck, Standing::stuck, "the upstream status is not a JSON object");
    status = to == nullptr ? json::object() : to->get_object();
    if (!graft(rules, from->get_object(), status.get_object())) return {};
  }
  const size_t hash = status_hash(status);
  if (hash == written.status_refused) return only(Does::stuck, Standing::stuck, written.refusal);
  if (hash == written.status_wanted && written.status_rests)
    return only(Does::wait, Standing::conflicting, "somebody keeps changing the status upstream");
  Action out = only(Does::status, Standing::behind, "the downstream status differs");
  out.hash = hash;
  out.object = with_status(rules, *p.upstream, *p.downstream, std::move(status));
  return out;
}

// The downstream object was made of one in another cluster. Also while it is not known which one
// this is: then nothing that names a cluster is touched.
bool of_another_cluster(const Rules& rules, const json::object& downstream) {
  const std::string origin = rules.shares_target() ? origin_of(downstream) : "";
  return !origin.empty() && origin != rules.origin;
}

// There is no upstream object, or it is going.
Action without_upstream(const Rules& rules, const Picture& p, const Written& written) {
  if (p.downstream == nullptr || p.hidden) return {};
  const bool ours = rules.adopt || !made_of(*p.downstream).empty();
  if (!ours)
    return only(Does::nothing, Standing::not_ours, "the downstream object was not made here");
  if (of_another_cluster(rules, *p.downstream))
    return only(Does::nothing, Standing::not_ours, "the downstream object is of another cluster");
  const bool going = p.upstream != nullptr;
  Action out = removal(
      p, written, going ? "the upstream object is being deleted" : "there is no upstream object");
  out.gone = !going;
  // Who deletes upstream may wait for what the status says.
  if (!going || !terminating(*p.downstream)) return out;
  Action status = status_up(rules, p, written, false);
  return status.does == Does::status ? status : out;
}

Action without_downstream(const Rules& rules, const Picture& p, const Written& written) {
  if (!p.downstream_complete) return only(Does::wait, Standing::unknown, "downstream is not seen");
  if (!written.created.empty())
    return only(Does::wait, Standing::ahead, "the object that was created has not been seen yet");
  const json::object wanted = wanted_of(rules, *p.upstream);
  const size_t hash = hash_of(wanted);
  if (hash == written.refused) return only(Does::stuck, Standing::stuck, written.refusal);
  if (hash == written.wanted && written.rests)
    return only(Does::wait, Standing::conflicting, "somebody keeps deleting it downstream");
  Action out = only(Does::create, Standing::ahead, "there is no downstream object");
  out.hash = hash;
  out.object = created(rules, *p.upstream, wanted);
  return out;
}

}  // namespace

const char* name_of(Does does) {
  switch (does) {
    case Does::create:
      return "create";
    case Does::remove:
      return "delete";
    case Does::status:
      return "status";
    default:
      return "update";
  }
}

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::in_step:
      return "in_step";
    case Standing::ahead:
      return "ahead";
    case Standing::behind:
      return "behind";
    case Standing::conflicting:
      return "conflicting";
    case Standing::stuck:
      return "stuck";
    case Standing::finalizer:
      return "finalizer";
    case Standing::held:
      return "held";
    case Standing::unknown:
      return "unknown";
    case Standing::not_ours:
      break;
  }
  return "not_ours";
}

Action decide(const Rules& rules, const Picture& p, const Written& written) {
  if (p.upstream == nullptr || terminating(*p.upstream)) return without_upstream(rules, p, written);
  if (p.downstream == nullptr) return without_downstream(rules, p, written);

  const std::string of = made_of(*p.downstream);
  if (of.empty() && (p.hidden || !rules.adopt)) {
    return only(Does::stuck, Standing::stuck,
                "its name is taken downstream by an object that was not made here");
  }
  if (of_another_cluster(rules, *p.downstream)) {
    return only(Does::stuck, Standing::stuck,
                "its name is taken downstream by an object of another cluster");
  }
  const bool of_another = !of.empty() && of != uid_of(*p.upstream);
  if (of_another && p.hidden && rules.shares_target() && origin_of(*p.downstream).empty()) {
    return only(Does::stuck, Standing::stuck,
                "its name is taken downstream by an object that was made of another one");
  }
  if (rules.match_uid && of_another)
    return removal(p, written, "the upstream object was made anew");

  const json::object wanted = wanted_of(rules, *p.upstream);
  const json::object content = content_of(rules, *p.downstream);
  const size_t hash = hash_of(wanted);
  const bool in_step =
      wanted == content || (hash == written.wanted && hash_of(content) == written.became);
  const bool rests = written.rests && hash == written.wanted;
  if (!in_step && hash != written.refused && !rests) {
    Action out =
        only(Does::update, Standing::ahead,
             p.hidden ? "its label was changed downstream" : "the downstream object differs");
    out.hash = hash;
    out.object = updated(rules, *p.upstream, *p.downstream, wanted);
    return out;
  }
  // What downstream makes of its present spec is told, also when it refuses the next one.
  Action status = status_up(rules, p, written, in_step);
  if (status.does == Does::status || in_step) return status;
  if (rests)
    return only(Does::wait, Standing::conflicting, "somebody keeps changing it downstream");
  return only(Does::stuck, Standing::stuck, written.refusal);
}

}  // namespace davit::federation
