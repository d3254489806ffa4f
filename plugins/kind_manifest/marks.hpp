// What Davit writes on the objects of a manifest, beside the applier's stamps: whose they are, and
// what they were made of. Rendering writes the marks, and the readers of observed objects look for
// them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "manifest.hpp"

namespace davit::manifest::marks {

inline constexpr std::string_view prefix = "davit.dev/";  // of all keys that are Davit's own

// A label: the record's name, or what of it a label can hold. The watches select by its presence.
inline constexpr const char* label = "davit.dev/manifest";
// An annotation: "shop/web/Deployment.apps/api", which is namespace and name of the record, and
// kind and name of the object. Controllers and people copy labels and annotations to other objects;
// a copy has another name, namespace or kind than its mark says, and so belongs to nobody.
inline constexpr const char* object = "davit.dev/manifest-object";
// An annotation: the hash of the object as it stands in the record. It changes with the content of
// a Secret, too, which the agent does not read.
inline constexpr const char* hash = "davit.dev/manifest-hash";

std::string object_mark(const std::string& ns, const std::string& record, const AllowedKind& as,
                        const std::string& name);
std::string hash_mark(const Wanted&);
// Writes all three; `hash` is the object's hash_mark.
void add(boost::json::object& metadata, const Manifest&, const Wanted&, const std::string& hash);

// The record that an observed object belongs to by its mark; nothing: to none.
std::optional<Named> record_of(const boost::json::value& observed);

}  // namespace davit::manifest::marks
