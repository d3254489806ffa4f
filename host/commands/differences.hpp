// What differs between two documents: field by field, and as a unified diff of their YAML. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

namespace davit::host {

struct FieldChange {
  std::string path;  // as errors name it: "spec.ports[0].name"
  std::optional<boost::json::value> before, after;
};

// In the order of the documents. An object or array that only one of them has is one change.
std::vector<FieldChange> changed_fields(const boost::json::value& before,
                                        const boost::json::value& after);

// The value with the keys of all objects below its first two levels in alphabetical order, so that
// another order is no difference.
boost::json::value with_ordered_keys(const boost::json::value& document);

// As `diff -u` prints it, with three lines around each change; empty if the texts are equal.
// `old_name` and `new_name` stand in the first two lines.
std::string unified_diff(const std::string& before, const std::string& after,
                         const std::string& old_name, const std::string& new_name);
// The same in the colours that terminals show a diff in.
std::string coloured_diff(const std::string& diff);

}  // namespace davit::host
