// How the tool sets the plugin under test that suite.hpp offers.
#pragma once

#include "suite.hpp"

namespace davit::conformance {

// What the command line says, read but not loaded.
struct Given {
  std::string path, config_file;
  Config config, options;
};
Result<Given> read_given(const std::string& path, const std::string& config_file);

// Loads the plugin into this process and makes it the subject. Returns what is wrong, or nothing.
std::optional<std::string> load(const Given& given);

}  // namespace davit::conformance
