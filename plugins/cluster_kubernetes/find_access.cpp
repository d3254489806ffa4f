#include "find_access.hpp"

#include <filesystem>

#include "kubeconfig.hpp"
#include "pem.hpp"
#include "server_url.hpp"

namespace davit::cluster_kubernetes {
namespace {

// The files that $KUBECONFIG names. In the configuration a relative path is relative to its file,
// in the environment to the working directory.
Result<std::vector<std::string>> files_of_environment(const std::string& variable) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= variable.size();) {
    const size_t colon = std::min(variable.find(':', from), variable.size());
    const std::string path = variable.substr(from, colon - from);
    from = colon + 1;
    if (path.empty()) continue;
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    if (error) {
      return Error{Code::failed_precondition,
                   "$KUBECONFIG is relative (" + path + "), and the working directory " +
                       "cannot be found (" + error.message() + "): set it to an absolute path"};
    }
    out.push_back(whole.string());
  }
  return out;
}

// Of several files some may be missing, as for kubectl.
Result<Access> read_files(const std::vector<std::string>& paths, const std::string& context,
                          const ReadFile& read) {
  std::vector<KubeconfigFile> files;
  std::vector<std::string> missing;
  for (const auto& path : paths) {
    std::error_code error;
    if (paths.size() > 1 && !std::filesystem::exists(path, error)) {
      missing.push_back(path);
      continue;
    }
    auto file = read(path);
    if (!file.ok()) return file.error().in("kubeconfig \"" + path + "\"");
    files.push_back({path, std::string(file->view())});
  }
  if (files.empty())
    return Error{Code::failed_precondition, "none of the files of $KUBECONFIG exists"};
  auto access = read_kubeconfig(files, context, read);
  if (access.ok()) access->files.insert(access->files.end(), missing.begin(), missing.end());
  return access;
}

Result<Access> read_server(const AccessSettings& s, const ReadFile& read) {
  Access out;
  out.url = server_url(s.server);
  out.source = "server \"" + out.url + "\"";
  out.tls_server_name = s.tls_server_name;
  const std::string& file = s.certificate_authority_file;
  if (file.empty()) return out;
  const auto pem = read(file);
  if (!pem.ok()) return pem.error().in("certificate_authority_file");
  out.ca = pem->view();
  if (out.ca.find("-----BEGIN ") == std::string::npos) {
    return Error{Code::failed_precondition,
                 "certificate_authority_file \"" + file + "\" holds no PEM"};
  }
  out.files = {file};
  return out;
}

Result<Access> read_source(const AccessSettings& s, const Environment& environment,
                           const ReadFile& read) {
  if (!s.server.empty()) return read_server(s, read);
  std::vector<std::string> files;
  if (!s.kubeconfig.empty()) {
    files = {s.kubeconfig};
  } else if (!s.in_cluster) {
    auto named = files_of_environment(environment("KUBECONFIG"));
    if (!named.ok()) return named.error();
    files = std::move(*named);
  }
  if (s.in_cluster || (files.empty() && !environment("KUBERNETES_SERVICE_HOST").empty()))
    return in_cluster_access(environment, read);
  if (files.empty()) files = {environment("HOME") + "/.kube/config"};
  return read_files(files, s.context, read);
}

}  // namespace

Result<Access> find_access(const AccessSettings& s, const Environment& environment,
                           const ReadFile& read) {
  auto access = read_source(s, environment, read);
  if (!access.ok()) return access;
  if (!s.proxy.empty()) access->proxy = s.proxy;
  if (!s.as.user.empty()) access->as = s.as;
  if (s.token_is_made) {
    access->token = Secret();
    access->token_file.clear();
    access->exec.reset();
  }
  if (auto pem = check_pem(*access); !pem.ok()) return pem.error().in(access->source);
  return access;
}

}  // namespace davit::cluster_kubernetes
