// What of an object travels: its labels, annotations and the fields that the rules name, without
// bookkeeping. Builds the objects that are written. Pure.
#pragma once

#include <boost/json/object.hpp>

#include "rules.hpp"

namespace davit::federation {

namespace json = boost::json;

// On the downstream object: the uid of the upstream object that it was made of.
inline constexpr std::string_view upstream_uid_key = "davit.dev/upstream-uid";
// Beside it, where several clusters have objects in one (Rules::origin): which one this is of.
inline constexpr std::string_view upstream_cluster_key = "davit.dev/upstream-cluster";
// On the upstream object, when there is no status subresource: the resourceVersion of the
// downstream object whose status it has. The name is that of cr-syncer.
inline constexpr std::string_view remote_version_key =
    "cr-syncer.cloudrobotics.com/remote-resource-version";

std::string uid_of(const json::object& object);
std::string version_of(const json::object& object);
int64_t generation_of(const json::object& object);  // 0: it has none
bool terminating(const json::object& object);
std::string made_of(const json::object& downstream);    // empty: nobody has noted it
std::string origin_of(const json::object& downstream);  // the same
// NULL also for JSON's null.
const json::value* member(const json::object& object, std::string_view key);

// What the downstream object must have, by the upstream one: {"labels", "annotations", "fields"},
// each only if there is something. The fields are large, so each is its fingerprint.
json::object wanted_of(const Rules& rules, const json::object& upstream);
// The same of the downstream object as it is.
json::object content_of(const Rules& rules, const json::object& downstream);
// 64 bits that do not depend on the order of members. Never 0.
size_t hash_of(const json::object& content);

// For the cache of the downstream side: the fields that travel become their fingerprints. They are
// the large part of an object, upstream's cache has them, and each update brings them all anew. All
// functions here understand such an object.
void condense(const Rules& rules, json::object& downstream);

json::object created(const Rules& rules, const json::object& upstream, const json::object& wanted);
json::object updated(const Rules& rules, const json::object& upstream,
                     const json::object& downstream, const json::object& wanted);
// A write of /status does not need the fields that travel.
json::object with_status(const Rules& rules, const json::object& upstream,
                         const json::object& downstream, json::value status);
// What the answer to such a write is asked to be: an object's metadata, and not the object that we
// know.
inline constexpr std::string_view answer_metadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
// The object that such an answer says is upstream now. `sent` was written; `cached` is what the
// cache has, or NULL. Empty: the cache may know better already.
std::string after_status(std::string_view answer, const std::string* cached,
                         const json::object& sent);

}  // namespace davit::federation
