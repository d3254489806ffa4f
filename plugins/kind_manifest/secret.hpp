// Secrets in a manifest. The values stand in the record, or the record names what the applier
// resolves them from. Pure.
#pragma once

#include "manifest.hpp"

namespace davit::manifest {

// Moves the member `secrets` of a v1 Secret out of the object, and turns `stringData` into `data`
// as the API server does. An error has its path in the object.
Result<> read_secret(Wanted&, const Site&);

}  // namespace davit::manifest
