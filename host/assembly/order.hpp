// In which order instances start: what is looked up before the one that looks it up, otherwise as
// in the file. Pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

struct Vertex {
  std::string name;
  std::set<size_t> uses;  // indexes of what it looked up
};

// Indexes in the order to start. A circle is FAILED_PRECONDITION and named: "a -> b -> a".
Result<std::vector<size_t>> start_order(const std::vector<Vertex>& graph);

}  // namespace davit::host
