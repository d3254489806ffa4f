// Later files over earlier ones: tables deep, everything else replaces.
#pragma once

#include <memory>

#include "node.hpp"

namespace davit::host {

// `over` onto `into`, both tables. A new entry is put last; one that is there keeps its place,
// takes the later value and says the later file and line; a table says all of them. A table over a
// value, or a value over a table, replaces it.
void merge(Node& into, std::unique_ptr<Node> over);

}  // namespace davit::host
