// `davit federation check`: what a process of federation would do, before it is switched on.
#pragma once

#include <string>
#include <vector>

#include "output.hpp"

namespace davit::host {

// Returns an ExitCode.
int check_federation(const std::vector<std::string>& files, Format format);

}  // namespace davit::host
