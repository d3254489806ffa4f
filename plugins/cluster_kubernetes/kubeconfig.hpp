// Reads a kubeconfig: the cluster and the user of one context.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

// `path` names the file in messages, and its directory is where relative files in it are. `context`
// empty: the current one. Everything that would fail later, a missing file or a broken key, say,
// fails here.
Result<Access> read_kubeconfig(const std::string& text, const std::string& path,
                               const std::string& context, const ReadFile& read);

}  // namespace davit::cluster_kubernetes
