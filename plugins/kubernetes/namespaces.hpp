// How the users of a cluster find out to which namespaces it is restricted, so that they ask for
// rights, and place objects, there. A cluster plugin that knows such a restriction answers the verb
// below by itself, before the slot returns; any other refuses a verb that it does not know. Nothing
// is sent to an API server.
#pragma once

#include <davit/cluster.hpp>

#include "rights.hpp"

namespace davit::kubernetes {

// The body of the answer is a JSON array of names.
inline constexpr std::string_view namespaces_verb = "namespaces";

cluster::Request namespaces_request();
// None: there is no restriction.
std::vector<std::string> namespaces_of(const cluster::Response& answer);
// Asks, in any phase after wire. Does not wait.
std::vector<std::string> namespaces_of(const cluster::Client& cluster);

// The same rights for each of the namespaces. What no Role can grant is left out: objects of no
// namespace are not touched then. `namespaces` is empty: the rights as they are.
std::vector<Right> in_namespaces(const std::vector<Right>& rights,
                                 const std::vector<std::string>& namespaces);

}  // namespace davit::kubernetes
