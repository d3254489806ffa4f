// How to reach an API server, and with which credentials. A kubeconfig, or the files of a pod,
// yields one Access.
#pragma once

#include <davit/host.hpp>

namespace davit::cluster_kubernetes {

// A program of a kubeconfig that makes credentials (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version;  // "client.authentication.k8s.io/v1"; the answer has the same
  std::string command;      // an absolute path, or a name that $PATH has
  std::vector<std::string> args;
  Pairs env;                 // beside the environment of this process
  std::string install_hint;  // one line for people; empty: none
  std::string info;          // KUBERNETES_EXEC_INFO, a JSON document
  bool operator==(const ExecPlugin&) const = default;
};

// As whom requests are carried out, if it is somebody else than who sends them.
struct Impersonation {
  std::string user, uid;  // empty: none
  std::vector<std::string> groups;
  Pairs extra;  // a key may come several times
  bool operator==(const Impersonation&) const = default;
};

struct Access {
  std::string url;  // "https://10.0.0.1:6443", perhaps with a path prefix; no slash at the end
  std::string ca;   // PEM; empty: the system's authorities
  std::string certificate;         // PEM, the client's; empty: none
  Secret key;                      // PEM
  Secret token;                    // bearer; empty: none
  std::string token_file;          // read again while running; used instead of token
  std::optional<ExecPlugin> exec;  // makes token, or certificate and key
  Impersonation as;
  std::string tls_server_name;  // name in the server's certificate; empty: the URL's host
  std::string proxy;            // "http://..."; empty: that of the environment
  bool insecure = false;        // do not verify the server
  bool compress = true;         // ask for compressed answers
  std::string source;           // for people: `kubeconfig "/x", context "y"` or "in-cluster"
  // The files that it was read from, and those that were looked for. The token's file is none.
  std::vector<std::string> files;

  // True if the server, the way to it and the credentials are the same.
  bool same_as(const Access& o) const {
    return url == o.url && ca == o.ca && certificate == o.certificate &&
           key.view() == o.key.view() && token.view() == o.token.view() &&
           token_file == o.token_file && exec == o.exec && as == o.as &&
           tls_server_name == o.tls_server_name && proxy == o.proxy && insecure == o.insecure &&
           compress == o.compress;
  }
  // Secrets are copied only by name.
  Access copy() const {
    Access out;
    out.url = url, out.ca = ca, out.certificate = certificate;
    out.key = Secret(key.view()), out.token = Secret(token.view());
    out.token_file = token_file, out.exec = exec, out.as = as;
    out.tls_server_name = tls_server_name, out.proxy = proxy, out.insecure = insecure;
    out.compress = compress;
    out.source = source, out.files = files;
    return out;
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
