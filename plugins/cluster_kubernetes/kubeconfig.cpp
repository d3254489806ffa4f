#include "kubeconfig.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include <davit/base64.hpp>

namespace davit::cluster_kubernetes {
namespace {

// A fault of the file. read_kubeconfig catches it, like the exceptions of yaml-cpp.
struct Fault : std::exception {
  explicit Fault(std::string m) : message(std::move(m)) {}
  std::string message;
};

std::string quoted(const std::string& s) {
  return "\"" + s + "\"";
}

std::string decode_base64(std::string text, const std::string& what) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
  auto out = from_base64(text);
  if (!out) throw Fault(what + " is not base64");
  if (out->empty()) throw Fault(what + " is empty");
  return *out;
}

YAML::Node child(const YAML::Node& node, const char* key) {
  return node && node.IsMap() ? node[key] : YAML::Node(YAML::NodeType::Undefined);
}

std::string text_of(const YAML::Node& node, const char* key, const std::string& where) {
  const YAML::Node v = child(node, key);
  if (!v || v.IsNull()) return {};
  if (!v.IsScalar()) throw Fault(where + ": " + key + " must be a string");
  return v.as<std::string>();
}

// Finds the entry of `clusters`, `users` or `contexts` with this name, and returns its member
// `inner`.
YAML::Node named(const YAML::Node& root, const char* list, const char* inner,
                 const std::string& name) {
  std::vector<std::string> names;
  const YAML::Node entries = child(root, list);
  if (entries && entries.IsSequence()) {
    for (const auto& entry : entries) {
      const std::string n = text_of(entry, "name", list);
      if (n == name) return child(entry, inner);
      names.push_back(n);
    }
  }
  std::string there;
  for (const auto& n : names) there += (there.empty() ? "" : ", ") + n;
  throw Fault(std::string(inner) + " " + quoted(name) + " does not exist (there " +
              (names.empty() ? "are none" : "are: " + there) + ")");
}

class Reader {
 public:
  Reader(const std::string& path, const ReadFile& read) : read_(read) {
    const size_t slash = path.rfind('/');
    directory_ = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }

  std::string resolve(const std::string& file) const {
    return file.front() == '/' ? file : directory_ + file;
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
                   where + ": " + key + " " + quoted(resolve(file)));
  }
  std::string content(const std::string& file, const std::string& where) const {
    auto secret = read_(resolve(file));
    if (!secret.ok()) throw Fault(where + ": " + secret.error().message);
    return std::string(secret->view());
  }

 private:
  static std::string checked(std::string pem, const std::string& where) {
    if (pem.find("-----BEGIN ") == std::string::npos) throw Fault(where + " holds no PEM");
    return pem;
  }
  const ReadFile& read_;
  std::string directory_;
};

void read_cluster(const YAML::Node& cluster, const std::string& where, const Reader& reader,
                  Access& out) {
  out.url = text_of(cluster, "server", where);
  while (out.url.ends_with('/')) out.url.pop_back();
  const bool https = out.url.starts_with("https://") && out.url.size() > 8;
  const bool http = out.url.starts_with("http://") && out.url.size() > 7;
  const bool odd = std::any_of(out.url.begin(), out.url.end(),
                               [](char c) { return c <= ' ' || c == '?' || c == '#'; });
  if (out.url.empty()) throw Fault(where + ": server is missing");
  if ((!https && !http) || odd)
    throw Fault(where + ": server " + quoted(out.url) + " is not a http or https URL");
  out.ca = reader.pem(cluster, "certificate-authority", where);
  out.tls_server_name = text_of(cluster, "tls-server-name", where);
  out.proxy = text_of(cluster, "proxy-url", where);
  const std::string insecure = text_of(cluster, "insecure-skip-tls-verify", where);
  if (!insecure.empty() && insecure != "true" && insecure != "false") {
    throw Fault(where + ": insecure-skip-tls-verify must be true or false");
  }
  out.insecure = insecure == "true";
}

void read_user(const YAML::Node& user, const std::string& where, const Reader& reader,
               Access& out) {
  static constexpr std::array refused = {"exec", "auth-provider", "username",
                                         "as",   "as-uid",        "as-groups"};
  for (const char* key : refused) {
    if (!child(user, key)) continue;
    std::string what = where + ": " + key;
    if (std::string_view(key) == "exec")
      what += " (" + text_of(child(user, key), "command", where) + ")";
    throw Fault(what + " is not supported: give a token, a tokenFile or a client certificate");
  }
  out.certificate = reader.pem(user, "client-certificate", where);
  out.key = Secret(reader.pem(user, "client-key", where));
  if (out.certificate.empty() != out.key.view().empty()) {
    throw Fault(where + ": client-certificate and client-key go together, and one is missing");
  }
  const std::string token = text_of(user, "token", where);
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; })) {
    throw Fault(where + ": token has characters that no token has");
  }
  out.token = Secret(token);
  const std::string file = text_of(user, "tokenFile", where);
  if (file.empty()) return;
  out.token_file = reader.resolve(file);
  if (reader.content(file, where + ": tokenFile").empty()) {
    throw Fault(where + ": tokenFile " + quoted(out.token_file) + " is empty");
  }
}

Access read(const YAML::Node& root, const std::string& path, std::string context,
            const Reader& reader) {
  if (!root.IsMap()) throw Fault("it is not a kubeconfig");
  if (context.empty()) context = text_of(root, "current-context", "kubeconfig");
  if (context.empty()) throw Fault("it has no current-context; name one with `context`");
  const YAML::Node chosen = named(root, "contexts", "context", context);
  const std::string where = "context " + quoted(context);
  const std::string cluster = text_of(chosen, "cluster", where);
  const std::string user = text_of(chosen, "user", where);
  if (cluster.empty()) throw Fault(where + ": cluster is missing");
  Access out;
  out.source = "kubeconfig " + quoted(path) + ", context " + quoted(context);
  read_cluster(named(root, "clusters", "cluster", cluster), "cluster " + quoted(cluster), reader,
               out);
  if (!user.empty())
    read_user(named(root, "users", "user", user), "user " + quoted(user), reader, out);
  return out;
}

}  // namespace

Result<Access> read_kubeconfig(const std::string& text, const std::string& path,
                               const std::string& context, const ReadFile& read_file) {
  const std::string name = "kubeconfig " + quoted(path);
  try {
    return read(YAML::Load(text), path, context, Reader(path, read_file));
  } catch (const Fault& f) {
    return Error{Code::invalid_argument, name + ": " + f.message};
  } catch (const YAML::Exception& e) {
    return Error{Code::invalid_argument,
                 name + ": line " + std::to_string(e.mark.line + 1) + ": " + e.msg};
  }
}

}  // namespace davit::cluster_kubernetes
