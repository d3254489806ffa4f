// The kinds of a process, each once. Two instances of one kind would share its name, its streams
// and its methods; which of them answers would be an accident.
#pragma once

#include <map>

#include "kind.hpp"

namespace davit::kind {

// In wire() only, so that `davit check` finds it, too.
inline Result<std::vector<Client>> each_once(const Host& host) {
  std::map<std::string, std::string> instances;  // by kind
  std::vector<Client> out;
  for (const auto& ref : each(host, DAVIT_KIND)) {
    Client client(ref);
    const auto [other, first] = instances.emplace(client.kind(), text(ref.instance));
    if (!first) {
      return Error{Code::failed_precondition,
                   "kind \"" + client.kind() + "\" is given by two instances, \"" + other->second +
                       "\" and \"" + text(ref.instance) + "\": remove one of them",
                   {},
                   {}};
    }
    out.push_back(std::move(client));
  }
  return out;
}

}  // namespace davit::kind
