// Determines the order in which instances start: each after the instances that it looks up,
// otherwise in the order of the files. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Vertex {
  std::string name;
  std::set<size_t> uses;  // indexes of the instances that it looked up
};

// The indexes in the order of starting. A circle is FAILED_PRECONDITION, and the message shows it:
// "a -> b -> a".
Result<std::vector<size_t>> start_order(const std::vector<Vertex>& graph);

}  // namespace davit::host
