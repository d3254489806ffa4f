// The settings of an instance. README.md says what they mean.
#pragma once

#include "davit/settings.hpp"

namespace davit::actuator_exec {

struct ExecSettings {
  std::vector<std::string> command;  // as it is written, but a path is absolute
  std::string working_directory;     // empty: a folder of the instance's state
  std::vector<std::string> environment_names;
  Pairs environment;
  Pairs environment_files;
  std::chrono::milliseconds timeout{600'000}, kill_grace{10'000};
  size_t output_bytes_max = 1u << 20;
  size_t concurrency_max = 4, waiting_max = 1000;
  std::vector<std::string> providers;

  static ExecSettings read(const Host& host);
};

}  // namespace davit::actuator_exec
