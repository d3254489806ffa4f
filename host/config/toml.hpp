// A TOML text as a tree of Nodes. toml++ is seen in toml.cpp only.
#pragma once

#include <memory>
#include <string_view>

#include "node.hpp"

namespace davit::host {

class Faults;

// `name` stands for the file in every `where`. nullptr and a fault when it is not TOML.
std::unique_ptr<Node> parse_toml(std::string_view text, std::string_view name, Faults& faults);

}  // namespace davit::host
