#include "sandbox.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/config.hpp"
#include "config/node.hpp"
#include "host_settings.hpp"
#include "services/host_and_port.hpp"

namespace davit::host {
namespace {

namespace fs = std::filesystem;

bool is_below(const std::string& path, const std::vector<std::string>& folders) {
  const std::string normal = fs::path(path).lexically_normal().string() + "/";
  return std::ranges::any_of(folders,
                             [&](const std::string& f) { return normal.starts_with(f + "/"); });
}

// "NAME" or, if there is no such key, "".
std::string string_of(const Node* table, std::string_view key) {
  const Node* node = table == nullptr ? nullptr : table->find(key);
  return node == nullptr || node->type != Node::Type::string ? "" : node->string;
}

void add_privileged(std::string& out, const std::string& key, const std::string& listen) {
  constexpr uint16_t first_free = 1024;
  const auto at = host_and_port(listen);
  if (!at || at->port == 0 || at->port >= first_free) return;
  out += "# " + key + " is " + listen +
         ": only with this right, or if a .socket unit holds it\n"
         "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n";
}

void add_ports(std::string& out, const Node& root) {
  add_privileged(out, "host.metrics_listen", string_of(root.find("host"), "metrics_listen"));
  const Node* rpc = root.find("rpc");
  const Node* servers = rpc == nullptr ? nullptr : rpc->find("server");
  if (servers == nullptr) return;
  for (const auto& server : servers->children)
    add_privileged(out, "rpc.server." + server->name + ".listen",
                   string_of(server.get(), "listen"));
}

// The lines of its file. Empty: it has none.
std::string lines_of(const std::string& module, const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    if (!fs::exists(fs::path(directory) / (module + ".so"))) continue;
    std::ostringstream text;
    std::ifstream in(fs::path(directory) / (module + ".sandbox"));
    if (in) text << in.rdbuf();
    return text.str();
  }
  return {};
}

void add_plugins(std::string& out, const Node& root, const std::vector<std::string>& directories) {
  const Node* plugins = root.find("plugin");
  if (plugins == nullptr) return;
  std::vector<std::string> known;
  for (const auto& plugin : plugins->children) {
    const std::string module = string_of(plugin.get(), "module");
    if (module.empty() || std::ranges::find(known, module) != known.end()) continue;
    known.push_back(module);
    const std::string lines = lines_of(module, directories);
    if (!lines.empty())
      out += "# plugin." + plugin->name + " is of module " + module + ":\n" + lines;
  }
}

}  // namespace

std::string sandbox_drop_in(const Config& config, const HostSettings& settings,
                            const std::vector<std::string>& directories) {
  std::string out;
  // Without the key the host takes the folder that the unit makes.
  const bool own = !string_of(config.root().find("host"), "state_dir").empty();
  if (own && !is_below(settings.state_dir, {"/var/lib/davit"}))
    out += "# host.state_dir\nReadWritePaths=" + settings.state_dir + "\n";
  for (const std::string& directory : settings.plugin_dirs) {
    if (is_below(directory, {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64"}))
      continue;
    out += "# host.plugin_dirs\nExecPaths=" + directory + "\n";
  }
  add_ports(out, config.root());
  add_plugins(out, config.root(), directories);
  if (out.empty()) return "# the shipped unit is enough for these files\n";
  return "# systemctl edit UNIT: what these files need beyond the shipped unit\n[Service]\n" + out;
}

}  // namespace davit::host
