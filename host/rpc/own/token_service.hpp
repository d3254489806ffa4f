// TokenService serves davit.v1.TokenService: it makes and removes the tokens of agents in the
// folder of a listener (agent_tokens_dir), for callers with the role operator, and says what
// whoever installs an agent has to know of this server. All that it does happens on the thread that
// may wait for a disk.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <davit/rpc.hpp>

#include "../agent_token_files.hpp"

struct davit_schema;

namespace davit::host {

class Config;
class Log;

// A listener that has a folder of tokens.
struct TokenListener {
  std::string name, folder, public_url;
  std::function<void()> read_files;  // takes in what has changed in the folder. [files]
};

// A table [plugin.NAME].
struct NamedPlugin {
  std::string name, module;
};
std::vector<NamedPlugin> plugins_of(const Config& config);

class TokenService {
 public:
  // What runs the job on the thread for files. False: it cannot now, and the job is dropped.
  using Post = std::function<bool(std::function<void()> job)>;

  TokenService(Log&, Post);
  ~TokenService();
  TokenService(const TokenService&) = delete;
  TokenService& operator=(const TokenService&) = delete;

  // Registers the methods as `host`. Once, during wire.
  Result<> serve(const Host& host);
  // What it works with; before the first call.
  void set(std::vector<TokenListener> listeners, std::vector<NamedPlugin> plugins);

 private:
  struct Caller;
  using Work = Result<std::string> (TokenService::*)(std::string_view request, const Caller&) const;
  Result<> serve(const rpc::Server& server, const std::string& name, Work work);
  Result<std::string> describe(std::string_view request, const Caller&) const;
  Result<std::string> create(std::string_view request, const Caller&) const;
  Result<std::string> remove(std::string_view request, const Caller&) const;
  Result<const TokenListener*> listener(const std::string& name) const;

  Log& log_;
  const Post post_;
  std::unique_ptr<davit_schema> schema_;
  std::vector<TokenListener> listeners_;
  std::vector<NamedPlugin> plugins_;
};

}  // namespace davit::host
