// Runs an exec plugin to its end and reads what it has answered. Credentials has it run when a
// request needs it.
#pragma once

#include "exec_plugin.hpp"
#include "process/process.hpp"

namespace davit::cluster_kubernetes {

// Blocks. Every error begins with the plugin's name.
Result<Credential> run_exec_plugin(const ExecPlugin& plugin, std::chrono::milliseconds time_limit,
                                   const process::Stopper& stopper);

}  // namespace davit::cluster_kubernetes
