// The message of a manifest (davit.v1.ApplyManifest), typed and checked. The server checks it when
// a record is written, and the agent before it applies one. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::manifest {

inline constexpr size_t objects_max = 1000;

// One object as it is sent: as it was written, with its namespace, and without what says nothing.
struct Wanted {
  boost::json::object object;
  const AllowedKind* as = nullptr;  // points into the Site
  std::string name;
  boost::json::array secrets;  // the values of a Secret that the applier resolves
};

struct Manifest {
  std::string id, ns, name;
  std::vector<Wanted> objects;  // in the order in which they are applied
};

// INVALID_ARGUMENT: `where` is the path ("objects[3].metadata.uid"), and the message names the
// object.
Result<Manifest> read_manifest(const boost::json::object& message, const Site&);
// The record's names alone, not checked.
Result<Named> identify(std::string_view apply);
Result<> validate(std::string_view apply, const Site&);

// "Deployment web".
std::string called(std::string_view kind, std::string_view name);

}  // namespace davit::manifest
