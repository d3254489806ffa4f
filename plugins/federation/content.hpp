// What of an object travels: its labels, annotations and the fields that the rules name, without
// bookkeeping. Builds the objects that are written. Pure.
#pragma once

#include <boost/json/object.hpp>

#include "rules.hpp"

namespace davit::federation {

namespace json = boost::json;

// On the downstream object: the uid of the upstream object that it was made of.
inline constexpr std::string_view upstream_uid_key = "davit.dev/upstream-uid";
// On the upstream object, when there is no status subresource: the resourceVersion of the
// downstream object whose status it has. The name is that of cr-syncer.
inline constexpr std::string_view remote_version_key =
    "cr-syncer.cloudrobotics.com/remote-resource-version";

std::string uid_of(const json::object& object);
std::string version_of(const json::object& object);
int64_t generation_of(const json::object& object);  // 0: it has none
bool terminating(const json::object& object);
std::string made_of(const json::object& downstream);  // empty: nobody has noted it
// NULL also for JSON's null.
const json::value* member(const json::object& object, std::string_view key);

// What the downstream object must have, by the upstream one: {"labels", "annotations", "fields"},
// each only if there is something.
json::object wanted_of(const Rules& rules, const json::object& upstream);
// The same of the downstream object as it is.
json::object content_of(const Rules& rules, const json::object& downstream);
size_t hash_of(const json::object& content);

json::object created(const Rules& rules, const json::object& upstream, const json::object& wanted);
json::object updated(const Rules& rules, const json::object& downstream,
                     const json::object& wanted);
json::object with_status(const Rules& rules, const json::object& upstream,
                         const json::object& downstream, json::value status);

}  // namespace davit::federation
