// The environment of one run: what the settings name, and nothing else of this process.
#pragma once

#include "covers.hpp"
#include "settings.hpp"

namespace davit::actuator_exec {

struct Environment {
  std::vector<std::string> entries;  // "NAME=value"
  Covers covers;

  // Overwrites the entries.
  static void wipe(std::vector<std::string>& entries);
};

// The PATH that the program gets: that of the settings, or a usual one.
std::string path_of(const ExecSettings& settings);
// Reads the files of environment_files. Blocks on the disk.
Result<Environment> environment_of(const ExecSettings& settings, const Host& host);

}  // namespace davit::actuator_exec
