// Finds the way to an API server: from the settings, the environment, and the files that both name.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

struct AccessSettings {
  std::string kubeconfig, context;
  bool in_cluster = false;
  std::string server;                                       // instead of a kubeconfig; empty: none
  std::string certificate_authority_file, tls_server_name;  // of it
  bool token_is_made = false;  // by the settings `token`: the kubeconfig's is left out
  std::string proxy;           // empty: the kubeconfig's, or that of the environment
  Impersonation as;            // without a user: the kubeconfig's
};

// README.md has the order in which it looks. Reads files.
Result<Access> find_access(const AccessSettings& settings, const Environment& environment,
                           const ReadFile& read);

}  // namespace davit::cluster_kubernetes
