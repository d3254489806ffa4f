// Reads and checks one object of a manifest: what Davit can know to be wrong is refused before any
// API server has seen it. Pure.
#pragma once

#include <boost/json/fwd.hpp>

#include "manifest.hpp"

namespace davit::manifest {

// `path` is the object's ("objects[3]"), `ns` the record's namespace.
Result<Wanted> read_wanted(const boost::json::value& written, const std::string& path,
                           const std::string& ns, const Site&);

}  // namespace davit::manifest
