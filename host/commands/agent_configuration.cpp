#include "agent_configuration.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include "assembly/application.hpp"
#include "config/config.hpp"
#include "config/faults.hpp"
#include "read_file.hpp"
#include "rpc/settings.hpp"
#include "temporary_folder.hpp"
#include "toml_text.hpp"
#include "yaml.hpp"

namespace davit::host {
namespace {

constexpr size_t name_max = 50;                 // "-token" and a pod's suffix still fit
constexpr size_t files_bytes_max = 900 * 1024;  // a ConfigMap has up to 1 MiB

Error wrong(const std::string& message) {
  return {Code::invalid_argument, message};
}

Error wrong(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return wrong(all);
}

bool is_label(const std::string& s) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !s.empty() && s.size() <= name_max && s.front() != '-' && s.back() != '-' &&
         std::all_of(s.begin(), s.end(), fits);
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string text_at(const Node& table, std::string_view key) {
  const Node* found = table.find(key);
  return found != nullptr && found->type == Node::Type::string ? found->string : std::string();
}

int64_t number_at(const Node* table, std::string_view key, int64_t usual) {
  const Node* found = table == nullptr ? nullptr : table->find(key);
  return found != nullptr && found->type == Node::Type::integer ? found->integer : usual;
}

const Node* table_at(const Node& from, std::initializer_list<std::string_view> path) {
  const Node* at = &from;
  for (const std::string_view part : path) {
    at = at->find(part);
    if (at == nullptr || at->type != Node::Type::table) return nullptr;
  }
  return at;
}

// The parts of the configuration that the generated file changes.
struct Parts {
  const Node* cluster = nullptr;  // [plugin.NAME] of cluster_kubernetes
  const Node* client = nullptr;   // [rpc.client.NAME]
};

Result<Parts> find_parts(const Config& config) {
  Parts out;
  if (const Node* plugins = table_at(config.root(), {"plugin"})) {
    for (const auto& plugin : plugins->children) {
      if (plugin->type != Node::Type::table || text_at(*plugin, "module") != "cluster_kubernetes")
        continue;
      if (out.cluster != nullptr) {
        return wrong("these files name two clusters, " + out.cluster->key + " and " + plugin->key +
                     ": an agent in a cluster has that one");
      }
      out.cluster = plugin.get();
    }
  }
  if (out.cluster == nullptr)
    return wrong("these files name no cluster_kubernetes: they are no agent's of a cluster");
  if (const Node* clients = table_at(config.root(), {"rpc", "client"})) {
    for (const auto& client : clients->children) {
      if (client->type != Node::Type::table) continue;
      if (out.client != nullptr) {
        return wrong("these files name two servers, " + out.client->key + " and " + client->key +
                     ": an agent that is installed like this has one");
      }
      out.client = client.get();
    }
  }
  if (out.client == nullptr) return wrong("these files name no server: [rpc.client.NAME]");
  for (const char* key : {"server", "token"}) {
    if (const Node* found = out.cluster->find(key)) {
      return wrong(found->where + ": " + found->key +
                   ": an agent in a cluster has the pod's service account: take this out");
    }
  }
  return out;
}

bool names_files(const std::string& key) {
  for (const char* end : {"_file", "_files", "_dir", "_dirs", "_directory", "kubeconfig"})
    if (key.ends_with(end)) return true;
  return false;
}

bool is_in_pod(const std::string& path) {
  for (const char* folder : {"/var/run/secrets/", "/etc/ssl/", "/etc/davit-token/"})
    if (path.starts_with(folder)) return true;
  return path.empty();
}

// Adds a line for each file of this machine that is named below `node`. `named`: the key above it
// has said that its values are files.
void find_files(const Node& node, bool named, const std::vector<std::string>& replaced,
                std::vector<std::string>& faults) {
  if (std::find(replaced.begin(), replaced.end(), node.key) != replaced.end()) return;
  for (const auto& child : node.children)
    find_files(*child, named || names_files(node.name), replaced, faults);
  if (node.type != Node::Type::string) return;
  const bool is_file = named || names_files(node.name) || node.string.starts_with("credential:");
  if (!is_file || is_in_pod(node.string)) return;
  const bool is_ca = node.key.starts_with("rpc.client.") && node.name == "ca_file";
  faults.push_back(node.where + ": " + node.key + ": " + node.string + " is not in the pod" +
                   (is_ca ? ": give it with --ca-file" : ""));
}

Result<> require_pod_has_all(const Config& config, const Parts& parts, bool has_ca) {
  std::vector<std::string> replaced = {"host.state_dir", "host.plugin_dirs",
                                       parts.client->key + ".token_file",
                                       parts.cluster->key + ".kubeconfig"};
  if (has_ca) replaced.push_back(parts.client->key + ".ca_file");
  std::vector<std::string> faults;
  find_files(config.root(), false, replaced, faults);
  if (faults.empty()) return {};
  return wrong(faults);
}

// What differs between a pod and this machine, which only asks for the rights.
struct Place {
  std::string head, state_dir, token_file, ca_file;
  std::string cluster;  // lines for the cluster's table
  int metrics_port = 0;
};

std::string generated(const Parts& parts, const AgentInstallation& i, const Place& place) {
  std::string out = place.head + "[host]\nstate_dir = " + in_toml(place.state_dir) + "\n";
  if (place.metrics_port != 0)
    out += "metrics_listen = \"0.0.0.0:" + std::to_string(place.metrics_port) + "\"\n";
  out += "\n[" + parts.client->key + "]\ntoken_file = " + in_toml(place.token_file) + "\n";
  if (!i.region.empty()) out += "region = " + in_toml(i.region) + "\n";
  if (!i.url.empty()) out += "url = " + in_toml(i.url) + "\n";
  if (!place.ca_file.empty()) out += "ca_file = " + in_toml(place.ca_file) + "\n";
  out += "\n[" + parts.cluster->key + "]\n" + place.cluster;
  return out;
}

std::string pod_file(const Parts& parts, const AgentInstallation& i) {
  Place place;
  place.head = "# What is different in the pod. `davit agent manifests` has written it.\n\n";
  place.state_dir = pod_state_dir;
  place.token_file = std::string(pod_token_dir) + "/token";
  place.ca_file = i.ca_file.empty() ? "" : pod_ca_file;
  place.metrics_port = i.metrics_port;
  place.cluster = "in_cluster = true\n";
  for (const char* key : {"kubeconfig", "context"})
    if (parts.cluster->find(key) != nullptr) place.cluster += std::string(key) + " = \"\"\n";
  return generated(parts, i, place);
}

// Of an API server that nobody asks: the plugins are made and wired, and not started.
constexpr const char* nobody_s_kubeconfig = R"(apiVersion: v1
kind: Config
current-context: none
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {token: none}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
)";

Result<std::vector<boost::json::value>> rights_of(std::vector<std::string> files,
                                                  const Parts& parts, const AgentInstallation& i) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return Error{Code::internal, "no folder for temporary files"};
  Place place;
  place.state_dir = folder.path();
  place.token_file = folder.write("token", "none\n");
  place.ca_file = i.ca_file.empty() ? "" : std::filesystem::absolute(i.ca_file).string();
  place.cluster = "in_cluster = false\ncontext = \"\"\nkubeconfig = " +
                  in_toml(folder.write("kubeconfig", nobody_s_kubeconfig)) + "\n";
  files.push_back(folder.write("here.toml", generated(parts, i, place)));
  std::optional<std::string> text;
  {
    Application application(files);
    text = application.rights_documents();
  }
  if (!text) return wrong("davit cannot run with these files: see above");
  auto documents = read_yaml(*text, "rights");
  if (!documents.ok()) return documents.error();
  std::vector<boost::json::value> out;
  for (auto& document : *documents) out.push_back(std::move(document.value));
  return out;
}

// "20-site.toml": a key of a ConfigMap, in an order that people see.
std::string key_of(size_t number, const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !fits(c); }, '-');
  return std::to_string(number * 10) + "-" + name;
}

Result<> require_sense(const AgentInstallation& i) {
  for (const auto& [name, what] : {std::pair{i.name, "name"}, std::pair{i.ns, "namespace"}}) {
    if (!is_label(name)) {
      return wrong("\"" + name + "\" is no " + what + ": it has a-z, 0-9 and \"-\", up to " +
                   std::to_string(name_max) + " of them");
    }
  }
  if (i.ns == "default" || i.ns.starts_with("kube-"))
    return wrong("the agent needs a namespace of its own, not " + i.ns);
  if (i.image.empty() || has_control(i.image) || i.image.find(' ') != std::string::npos)
    return wrong("\"" + i.image + "\" is no image");
  if (i.metrics_port < 0 || i.metrics_port > 65535)
    return wrong(std::to_string(i.metrics_port) + " is no port");
  if (has_control(i.url)) return wrong("the URL has control characters");
  return {};
}

Result<> require_address(const Parts& parts, const AgentInstallation& i, std::string& region) {
  const std::string& at = parts.client->key;
  region = i.region.empty() ? text_at(*parts.client, "region") : i.region;
  if (region.empty()) return wrong(at + ".region is missing: give it with --region");
  if (const std::string fault = region_fault(region); !fault.empty()) return wrong(fault);
  const std::string url = i.url.empty() ? text_at(*parts.client, "url") : i.url;
  if (url.empty()) return wrong(at + ".url is missing: give it with --url");
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return wrong("\"" + url + "\" is no address that a pod can dial: http:// or https://");
  return {};
}

}  // namespace

Result<AgentConfiguration> read_agent_configuration(const std::vector<std::string>& files,
                                                    const AgentInstallation& installation) {
  if (auto r = require_sense(installation); !r.ok()) return r.error();
  Faults faults;
  const Config config = Config::load(files, faults);
  if (!faults.empty()) return wrong(faults.lines());
  const auto parts = find_parts(config);
  if (!parts.ok()) return parts.error();
  AgentConfiguration out;
  if (auto r = require_address(*parts, installation, out.region); !r.ok()) return r.error();
  if (auto r = require_pod_has_all(config, *parts, !installation.ca_file.empty()); !r.ok())
    return r.error();
  if (!installation.ca_file.empty()) {
    auto ca = read_file(installation.ca_file);
    if (!ca.ok()) return ca.error();
    if (ca->find("-----BEGIN ") == std::string::npos)
      return wrong(installation.ca_file + ": holds no certificate (PEM)");
    out.ca = std::move(*ca);
  }
  size_t bytes = out.ca.size();
  for (const std::string& file : config.files()) {
    auto text = read_file(file);
    if (!text.ok()) return text.error();
    bytes += text->size();
    out.files.emplace_back(key_of(out.files.size() + 1, file), std::move(*text));
  }
  out.files.emplace_back(key_of(out.files.size() + 1, "pod.toml"), pod_file(*parts, installation));
  if (bytes > files_bytes_max) return wrong("these files are too large for a ConfigMap (900 KiB)");
  auto rights = rights_of(files, *parts, installation);
  if (!rights.ok()) return rights.error();
  out.rights = std::move(*rights);
  const Node* host = table_at(config.root(), {"host"});
  constexpr int64_t usual_stop_ms = 10'000;
  const int64_t stop_ms =
      number_at(host, "stop_timeout_ms", usual_stop_ms) + number_at(host, "stop_delay_ms", 0);
  constexpr int64_t margin_seconds = 5;
  out.grace_seconds =
      static_cast<int>(std::max<int64_t>(out.grace_seconds, stop_ms / 1000 + margin_seconds));
  return out;
}

}  // namespace davit::host
