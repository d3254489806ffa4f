// Field ownership of server-side apply: which manager set which field, as FieldsV1 trees ("f:spec"
// for a field, "k:{...}" for an item of a keyed list, {} for a value that is owned whole).
//
// Lists of built-in types that Kubernetes merges by key are known by their field's name; every
// other list, and every list of a custom resource, is owned and replaced whole. Pure functions on
// JSON values.
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
// The fields whose values differ between the two, as `after` has them.
json::object changed(const json::object& before, const json::object& after, bool built_in);

// The paths both sets own and at which the two objects differ: "spec.replicas".
struct Conflict {
  std::vector<std::string> path;  // elements of the set
  std::string text;               // for people
};
std::vector<Conflict> conflicts(const json::object& mine, const json::object& theirs,
                                const json::object& applied, const json::object& live);
// Takes one path out of a set.
void erase(json::object& set, const std::vector<std::string>& path);
void unite(json::object& into, const json::object& more);
void subtract(json::object& from, const json::object& less);
// Drops what the object no longer has.
void keep_present(json::object& set, const json::object& object);

// Puts what is applied over what is live.
void merge(json::object& live, const json::object& applied, bool built_in);
// Takes out of `live` what `before` owned, `now` does not, and nobody among `others` does.
void remove_omitted(json::object& live, const json::object& before, const json::object& now,
                    const std::vector<const json::object*>& others);

}  // namespace davit::cluster_memory::fields
