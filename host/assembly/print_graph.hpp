// What `davit check` prints: instances in the order of starting, what they are and whom they use.
#pragma once

#include <string>
#include <vector>

#include "assembly.hpp"

namespace davit::host {

// `columns`: of the terminal; 0: none.
std::string print_graph(const std::vector<Assembly::Line>& lines,
                        const std::vector<Described>& described, size_t columns);

}  // namespace davit::host
