// Parses a TOML text into a tree of Nodes. Only toml.cpp includes toml++.
#pragma once

#include <memory>
#include <string_view>

#include "node.hpp"

namespace davit::host {

class Faults;

// `name` stands for the file in every `where`. If the text is not TOML, adds a fault and returns
// nullptr.
std::unique_ptr<Node> parse_toml(std::string_view text, std::string_view name, Faults& faults);

}  // namespace davit::host
