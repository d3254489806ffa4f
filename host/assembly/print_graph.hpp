// Prints the graph for `davit check`: the instances in the order of starting, with their modules,
// roles and the instances they use.
#pragma once

#include <string>
#include <vector>

#include "assembly.hpp"
#include "extension.hpp"

namespace davit::host {

// `columns` is the width of the terminal; 0: no limit.
std::string print_graph(const std::vector<Assembly::Line>& lines,
                        const std::vector<Described>& described, size_t columns);

}  // namespace davit::host
