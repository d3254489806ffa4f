// The store as somebody finds it who opens the database beside the server and knows nothing but its
// tables.
#pragma once

#include "facts.hpp"

namespace davit::torture {

// Throws std::runtime_error when it cannot be read.
Stored read_store(const std::string& path);

}  // namespace davit::torture
