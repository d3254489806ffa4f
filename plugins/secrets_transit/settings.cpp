#include "settings.hpp"

#include "names.hpp"

namespace davit::secrets_transit {
namespace {

using Auth = TransitSettings::Auth;

// A mount or a namespace.
std::string read_path(const Settings& s, std::string_view key, const std::string& usual) {
  std::string path = s.string(key, usual);
  while (path.ends_with('/')) path.pop_back();
  if (path.empty() ? !usual.empty() : !is_path(path))
    s.reject(key, "is no path: it has names with \"/\" between them");
  return path;
}

Auth read_auth(const Settings& s) {
  const std::string word = s.string("auth", "token");
  if (word == "approle") return Auth::approle;
  if (word == "kubernetes") return Auth::kubernetes;
  if (word != "token") s.reject("auth", "must be \"token\", \"approle\" or \"kubernetes\"");
  return Auth::token;
}

std::string read_file(const Settings& s, std::string_view key, std::optional<std::string> usual) {
  std::string file = s.string(key, std::move(usual));
  if (s.has(key) && file.empty()) s.reject(key, "must name a file, or credential:NAME");
  return file;
}

void read_login(const Settings& s, TransitSettings& out) {
  out.auth = read_auth(s);
  if (out.auth == Auth::token) {
    out.token_file = secret_store::read_token_file(s);
    return;
  }
  const bool approle = out.auth == Auth::approle;
  out.auth_mount = read_path(s, "auth_mount", approle ? "approle" : "kubernetes");
  out.role = s.string(approle ? "role_id" : "role");
  if (out.role.empty() && s.has(approle ? "role_id" : "role"))
    s.reject(approle ? "role_id" : "role", "must not be empty");
  if (approle) {
    out.secret_id_file = read_file(s, "secret_id_file", std::nullopt);
  } else {
    out.service_account_file =
        read_file(s, "service_account_file", "/var/run/secrets/kubernetes.io/serviceaccount/token");
  }
}

}  // namespace

TransitSettings TransitSettings::read(const Settings& s) {
  TransitSettings out;
  out.transit_mount = read_path(s, "transit_mount", "transit");
  out.kv_mount = read_path(s, "kv_mount", "secret");
  out.vault_namespace = read_path(s, "namespace", "");
  out.key = s.string("key", std::string(keyring_mark));
  // With one key for all, every keyring could decrypt the values of every other.
  if (out.key.find(keyring_mark) == std::string::npos)
    s.reject("key", "must contain {keyring}: each keyring has a key of its own");
  else if (!is_key_name(with_keyring(out.key, "k")))
    s.reject("key", "is no name of a transit key: letters, digits, \"_\", \".\" and \"-\"");
  out.kv_folder = read_path(s, "kv_folder", "");
  if (!out.kv_folder.empty() && out.kv_folder.find(keyring_mark) == std::string::npos)
    s.reject("kv_folder", "must contain {keyring}: a keyring reads what is its own");
  read_login(s, out);
  return out;
}

}  // namespace davit::secrets_transit
