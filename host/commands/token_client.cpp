#include "token_client.hpp"

#include <davit/v1/token.pb.h>

namespace davit::host {

void require_existing(const std::string& option, const std::string& existing) {
  if (existing.empty() || existing == "keep" || existing == "replace") return;
  throw UsageError(option + " must be keep or replace, not \"" + existing + "\"");
}

Error TokenClient::explained(const Error& error) const {
  if (error.code != Code::unimplemented) return error;
  return {Code::failed_precondition,
          "this server makes no tokens, perhaps it is older than this "
          "davit: " +
              error.message};
}

Result<AgentsOfServer> TokenClient::describe(const std::string& region) const {
  v1::DescribeAgentsRequest request;
  request.set_region(region);
  request.set_listener(listener_);
  v1::DescribeAgentsResponse response;
  if (auto r = client_.call("TokenService/DescribeAgents", request, response); !r.ok())
    return explained(r.error());
  AgentsOfServer out;
  out.listener = response.listener();
  out.public_url = response.public_url();
  out.region_has_token = response.region_has_token();
  for (const auto& plugin : response.plugins())
    out.plugins.push_back({plugin.name(), plugin.module()});
  return out;
}

Result<AgentToken> TokenClient::create(const std::string& region, const std::string& existing,
                                       const std::string& maker) const {
  v1::CreateAgentTokenRequest request;
  request.set_region(region);
  request.set_listener(listener_);
  request.set_maker(maker);
  if (existing == "keep") request.set_existing(v1::CreateAgentTokenRequest::EXISTING_KEEP);
  if (existing == "replace") request.set_existing(v1::CreateAgentTokenRequest::EXISTING_REPLACE);
  v1::CreateAgentTokenResponse response;
  if (auto r = client_.call("TokenService/CreateAgentToken", request, response); !r.ok())
    return explained(r.error());
  if (response.token().empty()) return Error{Code::internal, "the server's answer has no token"};
  return AgentToken{response.token(), response.file(), response.created()};
}

Result<bool> TokenClient::remove(const std::string& region, const std::string& maker) const {
  v1::DeleteAgentTokenRequest request;
  request.set_region(region);
  request.set_listener(listener_);
  request.set_maker(maker);
  v1::DeleteAgentTokenResponse response;
  if (auto r = client_.call("TokenService/DeleteAgentToken", request, response); !r.ok())
    return explained(r.error());
  return response.deleted();
}

}  // namespace davit::host
