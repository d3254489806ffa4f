#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "davit/types.hpp"

namespace davit::testing {

// The content of a file. It is read in blocks: a plugin with debug information has tens of MiB.
inline Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{Code::not_found, "cannot read " + path, path};
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

}  // namespace davit::testing
