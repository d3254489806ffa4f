// The operator's API of federation: davit.v1.FederationService. It asks the Hub and encodes what it
// says.
#pragma once

#include "hub.hpp"

namespace davit::federation {

// Registers the methods, in wire(). `instance` is the plugin's name. A host without an RPC layer,
// such as that of a test, serves nothing.
Result<> serve(const Host& host, const std::shared_ptr<Hub>& hub);

}  // namespace davit::federation
