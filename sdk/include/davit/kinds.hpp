// Finds the kinds of a process and refuses two instances of one kind. Such instances would have the
// same name, streams and methods, and it would be left to chance which of them answers.
#pragma once

#include <map>

#include "kind.hpp"

namespace davit::kind {

// FAILED_PRECONDITION names the two instances. Only in wire(), so that `davit check` reports it,
// too.
inline Result<std::vector<Client>> each_once(const Host& host) {
  std::map<std::string, std::string> instances;  // by kind
  std::vector<Client> out;
  for (const auto& ref : each(host, DAVIT_KIND)) {
    Client client(ref);
    const auto [other, first] = instances.emplace(client.kind(), text(ref.instance));
    if (!first) {
      return Error{Code::failed_precondition,
                   "kind \"" + client.kind() + "\" is given by two instances, \"" + other->second +
                       "\" and \"" + text(ref.instance) + "\": remove one of them"};
    }
    out.push_back(std::move(client));
  }
  return out;
}

}  // namespace davit::kind
