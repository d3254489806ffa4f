// Reads a kubeconfig: the cluster and the user of one context.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

// `path` names the file in messages; relative paths in the file are relative to its directory. An
// empty `context` is the current one. All faults are found here that would otherwise show later,
// such as a missing file or a broken key.
Result<Access> read_kubeconfig(const std::string& text, const std::string& path,
                               const std::string& context, const ReadFile& read);

}  // namespace davit::cluster_kubernetes
