// Reads kubeconfigs: the cluster and the user of one context.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

struct KubeconfigFile {
  std::string path;  // for messages; relative paths in the file are relative to its directory
  std::string text;
};

// Of several files the first that has a cluster, a user or a context of a name says what it is, and
// the first that has a current-context says which, as for kubectl. An empty `context` is the
// current one. All faults are found here that would otherwise show later, such as a missing file or
// a broken key.
Result<Access> read_kubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context,
                               const ReadFile& read);

}  // namespace davit::cluster_kubernetes
