// Merges the tree of a later file into the tree of the earlier ones.
#pragma once

#include <memory>

#include "node.hpp"

namespace davit::host {

// Merges `over` into `into`; both are tables. A new entry goes to the end. An existing entry keeps
// its place and takes the later value, file and line. Two tables are merged, and `where` lists both
// places; in every other case the later entry replaces the earlier one.
void merge(Node& into, std::unique_ptr<Node> over);

}  // namespace davit::host
