// Renders a record as its Cluster object, and knows the marks of what was rendered so. Members have
// a fixed order, so the same record gives the same bytes. Pure.
#pragma once

#include <optional>
#include <string>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/kind.hpp>

#include "record.hpp"

namespace davit::cluster_record {

inline constexpr const char* group = "cluster.k8s.io";
inline constexpr const char* version = "v1alpha1";
inline constexpr const char* resource = "clusters";
inline constexpr const char* object_kind = "Cluster";

// A label: the Cluster's own name. The watch selects by its presence. A copy under another name
// belongs to nobody.
inline constexpr const char* name_mark = "davit.dev/cluster";
// An annotation: the hash of what was rendered. So one can tell whether the Cluster that is there
// is already the one that the record wants.
inline constexpr const char* hash_mark = "davit.dev/cluster-hash";

// The whole object with its marks: no finalizers, no status, and nothing that the record does not
// say. So server-side apply leaves all of that to others.
json::object render(const Record&);
std::string hash_of(const json::object& rendered);

// The record that an observed object belongs to by its mark; nothing: to none.
std::optional<Named> record_of(const json::value& observed);

}  // namespace davit::cluster_record
