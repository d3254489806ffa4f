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

// The instance that the setting `key` names. Without the setting (`named` is nullopt) the only one
// that plays the role, or nullopt when none does; INVALID_ARGUMENT when several do. Every setting
// that may be left out because there is usually one instance to choose works like this.
inline Result<std::optional<davit_ref>> find_or_only(const Host& host,
                                                     const std::optional<std::string>& named,
                                                     std::string_view key,
                                                     std::string_view interface_id) {
  if (named) {
    auto ref = find(host, *named, interface_id);
    if (!ref.ok()) return ref.error();
    return std::optional(*ref);
  }
  const auto all = each(host, interface_id);
  if (all.size() == 1) return std::optional(all.front());
  if (all.empty()) return std::optional<davit_ref>();
  std::string names;
  for (const auto& ref : all) names += (names.empty() ? "\"" : ", \"") + text(ref.instance) + "\"";
  return Error{Code::invalid_argument,
               "several instances offer " + std::string(interface_id) + ": " + names +
                   "; name one of them: " + std::string(key) + " = \"" +
                   text(all.front().instance) + "\"",
               std::string(key)};
}

}  // namespace davit
