#include "kubeconfig.hpp"

#include <algorithm>
#include <array>

#include <davit/base64.hpp>

#include "impersonation.hpp"
#include "kubeconfig_exec.hpp"
#include "proxy.hpp"
#include "server_url.hpp"
#include "yaml.hpp"

namespace davit::cluster_kubernetes {
namespace {

using yaml::child;
using yaml::Fault;
using yaml::in_quotes;
using yaml::text_of;

std::string decode_base64(std::string text, const std::string& what) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  auto out = from_base64(text);
  if (!out) throw Fault(what + " is not base64");
  if (out->empty()) throw Fault(what + " is empty");
  return *out;
}

// One file, and how what it names is read.
class Source {
 public:
  Source(const std::string& path, YAML::Node document, const ReadFile& read)
      : root(std::move(document)), read_(read) {
    const size_t slash = path.rfind('/');
    directory = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }

  std::string resolve(const std::string& file) const {
    return file.front() == '/' ? file : directory + file;
  }
  // The value of KEY-data, or the content of the file that KEY names.
  std::string pem(const YAML::Node& node, const std::string& key, const std::string& where) const {
    const std::string data = text_of(node, (key + "-data").c_str(), where);
    if (!data.empty())
      return checked(decode_base64(data, where + ": " + key + "-data"),
                     where + ": " + key + "-data");
    const std::string file = text_of(node, key.c_str(), where);
    if (file.empty()) return {};
    return checked(content(file, where + ": " + key),
                   where + ": " + key + " " + in_quotes(resolve(file)));
  }
  std::string content(const std::string& file, const std::string& where) const {
    auto secret = read_(resolve(file));
    if (!secret.ok()) throw Fault(where + ": " + secret.error().message);
    return std::string(secret->view());
  }

  YAML::Node root;
  std::string directory;  // with a slash at its end

 private:
  static std::string checked(std::string pem, const std::string& where) {
    if (pem.find("-----BEGIN ") == std::string::npos) throw Fault(where + " holds no PEM");
    return pem;
  }
  const ReadFile& read_;
};
using Sources = std::vector<Source>;

struct Found {
  YAML::Node node;
  const Source& source;
};

// Finds the entry of `clusters`, `users` or `contexts` with this name, and returns its member
// `inner`.
Found named(const Sources& sources, const char* list, const char* inner, const std::string& name) {
  std::vector<std::string> names;
  for (const Source& source : sources) {
    const YAML::Node entries = child(source.root, list);
    if (!entries || !entries.IsSequence()) continue;
    for (const auto& entry : entries) {
      const std::string n = text_of(entry, "name", list);
      if (n == name) return {child(entry, inner), source};
      if (std::find(names.begin(), names.end(), n) == names.end()) names.push_back(n);
    }
  }
  std::string there;
  for (const auto& n : names) there += (there.empty() ? "" : ", ") + n;
  throw Fault(std::string(inner) + " " + in_quotes(name) + " does not exist (there " +
              (names.empty() ? "are none" : "are: " + there) + ")");
}

void read_cluster(const Found& found, const std::string& where, Access& out) {
  const YAML::Node& cluster = found.node;
  out.url = server_url(text_of(cluster, "server", where));
  if (out.url.empty()) throw Fault(where + ": server is missing");
  if (!is_server_url(out.url))
    throw Fault(where + ": server " + in_quotes(out.url) + " is not a http or https URL");
  out.ca = found.source.pem(cluster, "certificate-authority", where);
  out.tls_server_name = text_of(cluster, "tls-server-name", where);
  out.proxy = text_of(cluster, "proxy-url", where);
  if (auto wrong = proxy_fault(out.proxy)) throw Fault(where + ": proxy-url " + *wrong);
  out.insecure = yaml::boolean_of(cluster, "insecure-skip-tls-verify", where);
  out.compress = !yaml::boolean_of(cluster, "disable-compression", where);
}

void read_impersonation(const YAML::Node& user, const std::string& where, Impersonation& out) {
  out.user = text_of(user, "as", where);
  out.uid = text_of(user, "as-uid", where);
  out.groups = yaml::texts_of(user, "as-groups", where);
  const YAML::Node extra = child(user, "as-user-extra");
  if (yaml::is_there(extra)) {
    if (!extra.IsMap()) throw Fault(where + ": as-user-extra must be a map");
    for (const auto& entry : extra) {
      const auto key = entry.first.as<std::string>();
      for (auto& value : yaml::texts_of(extra, key.c_str(), where + ": as-user-extra"))
        out.extra.emplace_back(key, std::move(value));
    }
  }
  if (auto wrong = impersonation_fault(out)) throw Fault(where + ": as: " + *wrong);
}

void read_user(const Found& found, const std::string& where, const YAML::Node& cluster,
               Access& out) {
  const YAML::Node& user = found.node;
  for (const char* key : {"auth-provider", "username"}) {
    if (!yaml::is_there(child(user, key))) continue;
    throw Fault(where + ": " + key +
                " is not supported: give a token, a tokenFile, a client certificate or exec");
  }
  out.certificate = found.source.pem(user, "client-certificate", where);
  out.key = Secret(found.source.pem(user, "client-key", where));
  if (out.certificate.empty() != out.key.view().empty()) {
    throw Fault(where + ": client-certificate and client-key go together, and one is missing");
  }
  read_impersonation(user, where, out.as);
  const std::string token = text_of(user, "token", where);
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; })) {
    throw Fault(where + ": token has characters that no token has");
  }
  out.token = Secret(token);
  const std::string file = text_of(user, "tokenFile", where);
  const YAML::Node exec = child(user, "exec");
  // A token goes before an exec plugin, as for kubectl.
  if (yaml::is_there(exec)) {
    ExecPlugin plugin = read_exec(exec, where, cluster, out, found.source.directory);
    if (token.empty() && file.empty()) out.exec = std::move(plugin);
  }
  if (file.empty()) return;
  out.token_file = found.source.resolve(file);
  if (found.source.content(file, where + ": tokenFile").empty()) {
    throw Fault(where + ": tokenFile " + in_quotes(out.token_file) + " is empty");
  }
}

Access read(const Sources& sources, const std::string& name, std::string context) {
  for (const Source& source : sources) {
    if (context.empty()) context = text_of(source.root, "current-context", "kubeconfig");
  }
  if (context.empty()) throw Fault("it has no current-context; name one with `context`");
  const YAML::Node chosen = named(sources, "contexts", "context", context).node;
  const std::string where = "context " + in_quotes(context);
  const std::string cluster = text_of(chosen, "cluster", where);
  const std::string user = text_of(chosen, "user", where);
  if (cluster.empty()) throw Fault(where + ": cluster is missing");
  Access out;
  out.source = name + ", context " + in_quotes(context);
  const Found in = named(sources, "clusters", "cluster", cluster);
  read_cluster(in, "cluster " + in_quotes(cluster), out);
  if (!user.empty())
    read_user(named(sources, "users", "user", user), "user " + in_quotes(user), in.node, out);
  return out;
}

YAML::Node load(const KubeconfigFile& file) {
  const std::string name = "kubeconfig " + in_quotes(file.path);
  try {
    YAML::Node root = YAML::Load(file.text);
    if (!root.IsMap()) throw Fault(name + ": it is not a kubeconfig");
    return root;
  } catch (const YAML::Exception& e) {
    throw Fault(name + ": line " + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
}

}  // namespace

Result<Access> read_kubeconfig(const std::vector<KubeconfigFile>& files, const std::string& context,
                               const ReadFile& read_file) {
  std::string name;
  for (const auto& file : files)
    name += (name.empty() ? "kubeconfig " : ", ") + in_quotes(file.path);
  std::vector<std::string> looked_for;
  const ReadFile noted = [&](const std::string& path) {
    looked_for.push_back(path);
    return read_file(path);
  };
  try {
    Sources sources;
    for (const auto& file : files) {
      sources.emplace_back(file.path, load(file), noted);
      looked_for.push_back(file.path);
    }
    try {
      Access out = read(sources, name, context);
      std::erase(looked_for, out.token_file);
      out.files = std::move(looked_for);
      return out;
    } catch (const Fault& f) {
      throw Fault(name + ": " + f.message);
    }
  } catch (const Fault& f) {
    return Error{Code::invalid_argument, f.message};
  } catch (const YAML::Exception& e) {
    return Error{Code::invalid_argument,
                 name + ": line " + std::to_string(e.mark.line + 1) + ": " + e.msg};
  }
}

}  // namespace davit::cluster_kubernetes
