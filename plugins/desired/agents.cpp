// OperatorService/ForgetAgent.
#include <davit/v1/operator.pb.h>

#include "shared.hpp"

namespace davit::desired {

namespace {

// Runs on the storage's pool.
Result<std::string> forget(const Shared& shared, const storage::Client& storage,
                           const std::string& region, const std::string& agent) {
  std::optional<int64_t> seen_at;
  auto read = storage.agents(region, [&](const davit_progress& p) {
    if (view(p.agent) != agent) return true;
    seen_at = p.seen_at_unix_ms;
    return false;
  });
  if (!read.ok()) return read.error();
  if (!seen_at) {
    return Error{Code::not_found,
                 "no agent \"" + agent + "\" of region \"" + region + "\" has reported"};
  }
  auto r = storage.maintain({.forget = {region, agent, *seen_at}});
  if (!r.ok()) return r.error();
  shared.host.info("an agent is forgotten: an operator asked for it",
                   {{"region", region}, {"agent", agent}});
  v1::ForgetAgentResponse out;
  out.set_seen_at_unix_ms(*seen_at);
  return out.SerializeAsString();
}

}  // namespace

Result<> serve_agents(Shared& shared, const rpc::Server& server) {
  return server.unary(method("ForgetAgent", "ForgetAgentRequest", "ForgetAgentResponse"),
                      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
                        v1::ForgetAgentRequest message;
                        if (auto r = parse(message, request.view()); !r.ok())
                          return reply(r.error());
                        if (message.region().empty() || message.agent().empty()) {
                          const char* field = message.region().empty() ? "region" : "agent";
                          return reply(Error{Code::invalid_argument, "is empty", field});
                        }
                        shared.host.blocking(
                            shared.storage.instance(),
                            [&shared, storage = shared.storage.under(call.operation()), message,
                             reply = std::move(reply), ticket = shared.outstanding.begin()] {
                              reply(forget(shared, storage, message.region(), message.agent()));
                            });
                      });
}

}  // namespace davit::desired
