// Compares two configurations key by key. A reload uses it to log which changes need a restart.
#pragma once

#include <string>
#include <vector>

namespace davit::host {

struct Node;

struct Difference {
  std::string key;    // "rpc.server.main.token": an array is compared as a whole
  std::string where;  // file and line in `after`; empty: the key was removed
  bool operator==(const Difference&) const = default;
};

// The keys whose values differ, sorted, each once. The result contains no values, because they may
// be secret.
std::vector<Difference> differences(const Node& before, const Node& after);

}  // namespace davit::host
