// Field ownership of server-side apply: which manager set which field. Sets of fields are FieldsV1
// trees: "f:spec" is a field, "k:{...}" an item of a keyed list, and {} a value that is owned as a
// whole.
//
// For built-in types, lists that Kubernetes merges by key are recognised by their field's name. All
// other lists, and all lists of custom resources, are owned and replaced as a whole. Pure functions
// on JSON values.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace davit::cluster_memory::fields {

namespace json = boost::json;

// The fields that `object` sets.
json::object of(const json::object& object, bool built_in);
// The fields whose values differ between the two objects, as in `after`.
json::object changed(const json::object& before, const json::object& after, bool built_in);

// The paths that both sets own and at which the two objects differ, such as "spec.replicas".
struct Conflict {
  std::vector<std::string> path;  // elements of the set
  std::string text;               // for people
};
std::vector<Conflict> conflicts(const json::object& mine, const json::object& theirs,
                                const json::object& applied, const json::object& live);
// Removes one path from a set.
void erase(json::object& set, const std::vector<std::string>& path);
void unite(json::object& into, const json::object& more);
void subtract(json::object& from, const json::object& less);
// Removes fields that the object does not have any more.
void keep_present(json::object& set, const json::object& object);

// Applies `applied` to `live`.
void merge(json::object& live, const json::object& applied, bool built_in);
// Removes the fields from `live` that `before` owned and that neither `now` nor any of `others`
// owns.
void remove_omitted(json::object& live, const json::object& before, const json::object& now,
                    const std::vector<const json::object*>& others);

}  // namespace davit::cluster_memory::fields
