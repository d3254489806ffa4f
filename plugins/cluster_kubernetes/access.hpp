// How an API server is reached and who we are there: what a kubeconfig or the files of a pod come
// down to.
#pragma once

#include <davit/host.hpp>

namespace davit::cluster_kubernetes {

struct Access {
  std::string
      url;         // "https://10.0.0.1:6443", with a path prefix if any, without a slash at the end
  std::string ca;  // PEM; empty: the system's
  std::string certificate;  // PEM, of the client; empty: none
  Secret key;               // PEM
  Secret token;             // bearer; empty: none
  std::string token_file;   // read again while running; wins over token
  std::string
      tls_server_name;    // what the server's certificate must name, when not the host of the URL
  std::string proxy;      // "http://...", empty: the environment's
  bool insecure = false;  // does not verify the server
  std::string source;     // for people: `kubeconfig "/x", context "y"` or "in-cluster"

  // The same server, reached in the same way by the same credentials.
  bool same_as(const Access& o) const {
    return url == o.url && ca == o.ca && certificate == o.certificate &&
           key.view() == o.key.view() && token.view() == o.token.view() &&
           token_file == o.token_file && tls_server_name == o.tls_server_name && proxy == o.proxy &&
           insecure == o.insecure;
  }
};
// Reads it anew from where it came from. May block on the disk.
using ReadAccess = std::function<Result<Access>()>;

// Reads a file that may hold a secret: Host::credential, or a test's.
using ReadFile = std::function<Result<Secret>(const std::string& path)>;
// An environment variable, empty when it is not set.
using Environment = std::function<std::string(const std::string& name)>;

// In a pod: the service account's files and KUBERNETES_SERVICE_HOST and _PORT.
Result<Access> in_cluster_access(const Environment& environment, const ReadFile& read);

}  // namespace davit::cluster_kubernetes
