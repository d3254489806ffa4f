// The calls of a server that makes tokens of agents by itself (davit.v1.TokenService).
#pragma once

#include <string>
#include <vector>

#include <davit/types.hpp>

#include "operator_client.hpp"

namespace davit::host {

// What is done with a token that is there: "" refuses, "keep" answers it, "replace" makes another.
// Throws a UsageError if it is none of these.
void require_existing(const std::string& option, const std::string& existing);

struct ServerPlugin {
  std::string name, module;
};

struct AgentsOfServer {
  std::string listener, public_url;
  bool region_has_token = false;
  std::vector<ServerPlugin> plugins;
};

struct AgentToken {
  std::string token, file;
  bool created = false;
};

class TokenClient {
 public:
  // `listener` is NAME of [rpc.server.NAME]; empty: the only one that has a folder of tokens.
  TokenClient(OperatorClient& client, std::string listener)
      : client_(client), listener_(std::move(listener)) {}

  Result<AgentsOfServer> describe(const std::string& region) const;
  Result<AgentToken> create(const std::string& region, const std::string& existing,
                            const std::string& maker = {}) const;
  // Whether there was one.
  Result<bool> remove(const std::string& region, const std::string& maker = {}) const;

 private:
  Error explained(const Error& error) const;

  OperatorClient& client_;
  std::string listener_;
};

}  // namespace davit::host
