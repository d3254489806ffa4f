// How to reach an API server, and with which credentials. A kubeconfig, or the files of a pod,
// yields one Access.
#pragma once

#include <davit/host.hpp>

namespace davit::cluster_kubernetes {

struct Access {
  std::string url;  // "https://10.0.0.1:6443", perhaps with a path prefix; no slash at the end
  std::string ca;   // PEM; empty: the system's authorities
  std::string certificate;      // PEM, the client's; empty: none
  Secret key;                   // PEM
  Secret token;                 // bearer; empty: none
  std::string token_file;       // read again while running; used instead of token
  std::string tls_server_name;  // name in the server's certificate; empty: the URL's host
  std::string proxy;            // "http://..."; empty: that of the environment
  bool insecure = false;        // do not verify the server
  std::string source;           // for people: `kubeconfig "/x", context "y"` or "in-cluster"

  // True if the server, the way to it and the credentials are the same.
  bool same_as(const Access& o) const {
    return url == o.url && ca == o.ca && certificate == o.certificate &&
           key.view() == o.key.view() && token.view() == o.token.view() &&
           token_file == o.token_file && tls_server_name == o.tls_server_name && proxy == o.proxy &&
           insecure == o.insecure;
  }
};
// Reads the access again from its source. May block on the disk.
using ReadAccess = std::function<Result<Access>()>;

// Reads a file that may hold a secret. It is Host::credential, or a test's.
using ReadFile = std::function<Result<Secret>(const std::string& path)>;
// Returns an environment variable, or an empty string if it is not set.
using Environment = std::function<std::string(const std::string& name)>;

// The access of a pod: the service account's files, KUBERNETES_SERVICE_HOST and _PORT.
Result<Access> in_cluster_access(const Environment& environment, const ReadFile& read);

}  // namespace davit::cluster_kubernetes
