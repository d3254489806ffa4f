// Finds other instances of the process by name or by role. Only in a plugin's wire(). The clients
// of the roles (storage::Client and others) are built on these functions.
#pragma once

#include "host.hpp"

namespace davit {

// NOT_FOUND when there is no such instance, FAILED_PRECONDITION when it does not play the role.
inline Result<davit_ref> find(const Host& host, std::string_view instance,
                              std::string_view interface_id) {
  davit_ref ref{};
  auto r = checked([&](davit_error* e) {
    return host.service<davit_lookup>(DAVIT_LOOKUP)
        ->find(host.abi(), str(instance), str(interface_id), &ref, e);
  });
  if (!r.ok()) return r.error();
  return ref;
}

// Every instance that plays the role, in the order of the configuration.
inline std::vector<davit_ref> each(const Host& host, std::string_view interface_id) {
  std::vector<davit_ref> out;
  Visitor visitor([&out](const davit_ref& r) { out.push_back(r); });
  host.service<davit_lookup>(DAVIT_LOOKUP)->each(host.abi(), str(interface_id), &visitor, visitor);
  visitor.rethrow();
  return out;
}

}  // namespace davit
