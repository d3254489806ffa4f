// Asks a process of federation how the objects of its two clusters stand, and prints the answer.
#pragma once

#include <optional>
#include <string>

#include "operator_client.hpp"
#include "output.hpp"

namespace davit::host {

struct FederationQuestion {
  std::string resource, object;  // empty: all
  bool objects = false;          // name those that are not in step
};

// Returns the exit code. nullopt: the server does no federation.
std::optional<int> show_federation(OperatorClient& client, const std::string& command,
                                   const FederationQuestion& question, Format format);

}  // namespace davit::host
