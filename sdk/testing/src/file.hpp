#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "davit/types.hpp"

namespace davit::testing {

// A plugin with its debug information has tens of MiB: it is read in blocks.
inline Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::not_found, "cannot read " + path, path, {}};
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

}  // namespace davit::testing
