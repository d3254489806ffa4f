// Which keys two configurations say differently.
#pragma once

#include <string>
#include <vector>

namespace davit::host {

struct Node;

struct Difference {
  std::string key;    // "rpc.server.main.token": an array is told as a whole
  std::string where;  // in the later one; empty: it is not there any more
  bool operator==(const Difference&) const = default;
};

// Sorted by key, each key once. Values are compared and not told: they may be secret.
std::vector<Difference> differences(const Node& before, const Node& after);

}  // namespace davit::host
