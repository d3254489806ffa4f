// The options of the commands that install agents.
#pragma once

#include <string>

#include "agent_configuration.hpp"
#include "command_line.hpp"

namespace davit::host {

struct InstallationOptions {
  std::string name, ns, image, url, metrics_port;

  void add_options(Command& command);
  // Throws a UsageError. What is not given has its default.
  AgentInstallation read() const;
};

// A whole number in bounds; `usual` if the text is empty. Throws a UsageError that names the
// option.
int64_t number_option(const std::string& option, const std::string& text, int64_t usual,
                      int64_t least, int64_t most);

}  // namespace davit::host
