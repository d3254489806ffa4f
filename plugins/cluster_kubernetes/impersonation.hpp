// The headers by which a request is carried out as somebody else. Pure.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

// "Impersonate-User" and the others; none if there is no user.
Pairs headers_of(const Impersonation& as);

// Why it cannot be used; nothing: it can.
std::optional<std::string> impersonation_fault(const Impersonation& as);

}  // namespace davit::cluster_kubernetes
