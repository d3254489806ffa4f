// What Rpc does for davit.v1.TokenService.
#include <algorithm>

#include "config/config.hpp"
#include "rpc.hpp"

namespace davit::host {

// Marks nothing as read: the assembly does.
std::vector<NamedPlugin> plugins_of(const Config& config) {
  std::vector<NamedPlugin> out;
  const Node* plugins = config.root().find("plugin");
  if (plugins == nullptr || plugins->type != Node::Type::table) return out;
  for (const auto& plugin : plugins->children) {
    const Node* module = plugin->type == Node::Type::table ? plugin->find("module") : nullptr;
    if (module != nullptr && module->type == Node::Type::string)
      out.push_back({plugin->name, module->string});
  }
  return out;
}

// Whether somebody may call whose role is operator.
bool Rpc::serves_operators() const {
  return std::ranges::any_of(server_settings_, [](const ServerSettings& s) {
    return s.on_unix_socket() || std::ranges::any_of(s.tokens, [](const TokenSettings& token) {
             return token.role == "operator";
           });
  });
}

// Once the servers are made.
void Rpc::set_token_service() {
  std::vector<TokenListener> listeners;
  for (size_t i = 0; i < servers_.size(); ++i) {
    const ServerSettings& s = server_settings_[i];
    if (s.agent_tokens_dir.empty()) continue;
    listeners.push_back({s.name, s.agent_tokens_dir, s.public_url,
                         [server = servers_[i].get()] { server->read_files(); }});
  }
  token_service_.set(std::move(listeners), plugins_);
}

bool Rpc::post_to_files(std::function<void()> job) {
  const std::lock_guard lock(read_files_mutex_);
  return read_files_ && read_files_->post(std::move(job));
}

}  // namespace davit::host
