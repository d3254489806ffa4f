#include "token_service.hpp"

#include <algorithm>

#include <davit_token_descriptors.h>

#include <davit/required_features.hpp>

#include "codec/schema.hpp"
#include "fields.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;

constexpr std::string_view token_package = "davit.v1.";
constexpr uint32_t token_request_bytes_max = 16'384;
constexpr size_t maker_bytes_max = 512;

std::string type_named(const std::string& name) {
  return std::string(token_package) + name;
}

// An enum of later than this host is no reason to give a token away.
Result<AgentTokenFiles::Existing> existing_of(int choice) {
  switch (choice) {
    case 0:
      return AgentTokenFiles::Existing::refuse;
    case 1:
      return AgentTokenFiles::Existing::keep;
    case 2:
      return AgentTokenFiles::Existing::replace;
    default:
      return Error{Code::unimplemented, "existing: this server does not know what is asked"};
  }
}

Result<> require_region(const std::string& region) {
  const std::string fault = folder_region_fault(region);
  if (fault.empty()) return {};
  return Error{Code::invalid_argument, "region: " + fault};
}

Result<> require_maker(const std::string& maker) {
  const bool one_line = std::all_of(maker.begin(), maker.end(),
                                    [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  if (one_line && maker.size() <= maker_bytes_max) return {};
  return Error{Code::invalid_argument,
               "maker: must be one line of at most " + std::to_string(maker_bytes_max) + " bytes"};
}

}  // namespace

struct TokenService::Caller {
  std::string name, peer;
};

TokenService::TokenService(Log& log, Post post) : log_(log), post_(std::move(post)) {}
TokenService::~TokenService() = default;

void TokenService::set(std::vector<TokenListener> listeners, std::vector<NamedPlugin> plugins) {
  listeners_ = std::move(listeners);
  plugins_ = std::move(plugins);
}

Result<> TokenService::serve(const Host& host) {
  auto schema = make_schema(view(davit_token_descriptors()), {});
  if (!schema.ok()) return schema.error();
  schema_ = std::move(*schema);
  const rpc::Server server(host);
  if (auto r = serve(server, "DescribeAgents", &TokenService::describe); !r.ok()) return r;
  if (auto r = serve(server, "CreateAgentToken", &TokenService::create); !r.ok()) return r;
  return serve(server, "DeleteAgentToken", &TokenService::remove);
}

Result<> TokenService::serve(const rpc::Server& server, const std::string& name, Work work) {
  rpc::Method m;
  m.path = type_named("TokenService/" + name);
  m.request_type = type_named(name + "Request");
  m.response_type = type_named(name + "Response");
  m.descriptor_set = davit_token_descriptors();
  m.role = "operator";
  m.request_bytes_max = token_request_bytes_max;
  return server.unary(m, [this, work](rpc::Call call, Buffer request, const auto& reply) {
    const Caller caller{call.identity().name, call.peer()};
    const bool taken = post_(
        [this, work, request, reply, caller] { reply((this->*work)(request.view(), caller)); });
    if (!taken) {
      reply(Error{Code::unavailable,
                  "the server is starting or stopping, or has too many such calls: try again"});
    }
  });
}

Result<const TokenListener*> TokenService::listener(const std::string& name) const {
  std::string names;
  for (const TokenListener& l : listeners_) {
    if (l.name == name) return &l;
    names += (names.empty() ? "" : ", ") + l.name;
  }
  if (name.empty() && listeners_.size() == 1) return &listeners_.front();
  if (listeners_.empty()) {
    return Error{Code::failed_precondition,
                 "no [rpc.server.NAME] of this server has agent_tokens_dir, so it makes no tokens: "
                 "set it, or make the token by hand (davit token new --offline)"};
  }
  if (name.empty()) {
    return Error{Code::invalid_argument,
                 "several listeners of this server have tokens of agents, name one: " + names};
  }
  return Error{Code::not_found,
               "no [rpc.server." + name + "] with agent_tokens_dir is here; there are: " + names};
}

Result<std::string> TokenService::describe(std::string_view bytes, const Caller&) const {
  pb::Arena arena;
  const auto request = read_message(*schema_, type_named("DescribeAgentsRequest"), bytes, arena);
  if (!request.ok()) return request.error();
  const Fields in(**request);
  if (auto r = refuse_unknown_features(in.texts("required_features")); !r.ok()) return r.error();
  const std::string region = in.text("region");
  if (!region.empty())
    if (auto r = require_region(region); !r.ok()) return r.error();
  const auto of = listener(in.text("listener"));
  if (!of.ok()) return of.error();
  const auto answer = new_message(*schema_, type_named("DescribeAgentsResponse"), arena);
  if (!answer.ok()) return answer.error();
  const Fields out(**answer);
  out.set("listener", (*of)->name);
  out.set("public_url", (*of)->public_url);
  out.set_flag("region_has_token", !region.empty() && AgentTokenFiles((*of)->folder).has(region));
  for (const NamedPlugin& plugin : plugins_) {
    const Fields one = out.add("plugins");
    one.set("name", plugin.name);
    one.set("module", plugin.module);
  }
  return (*answer)->SerializeAsString();
}

Result<std::string> TokenService::create(std::string_view bytes, const Caller& caller) const {
  pb::Arena arena;
  const auto request = read_message(*schema_, type_named("CreateAgentTokenRequest"), bytes, arena);
  if (!request.ok()) return request.error();
  const Fields in(**request);
  if (auto r = refuse_unknown_features(in.texts("required_features")); !r.ok()) return r.error();
  const std::string region = in.text("region"), maker = in.text("maker");
  if (auto r = require_region(region); !r.ok()) return r.error();
  if (auto r = require_maker(maker); !r.ok()) return r.error();
  const auto existing = existing_of(in.choice("existing"));
  if (!existing.ok()) return existing.error();
  const auto of = listener(in.text("listener"));
  if (!of.ok()) return of.error();
  const AgentTokenFiles files((*of)->folder);
  auto made = files.create(region, *existing, maker);
  if (!made.ok()) return made.error();
  if (made->created) {
    log_.info(
        "rpc", "a token for agents is made",
        {{"server", (*of)->name}, {"region", region}, {"by", caller.name}, {"peer", caller.peer}});
    (*of)->read_files();
  }
  const auto answer = new_message(*schema_, type_named("CreateAgentTokenResponse"), arena);
  if (!answer.ok()) return answer.error();
  const Fields out(**answer);
  out.set("token", made->token);
  out.set_flag("created", made->created);
  out.set("file", files.file(region));
  return (*answer)->SerializeAsString();
}

Result<std::string> TokenService::remove(std::string_view bytes, const Caller& caller) const {
  pb::Arena arena;
  const auto request = read_message(*schema_, type_named("DeleteAgentTokenRequest"), bytes, arena);
  if (!request.ok()) return request.error();
  const Fields in(**request);
  if (auto r = refuse_unknown_features(in.texts("required_features")); !r.ok()) return r.error();
  const std::string region = in.text("region"), maker = in.text("maker");
  if (auto r = require_region(region); !r.ok()) return r.error();
  const auto of = listener(in.text("listener"));
  if (!of.ok()) return of.error();
  const auto removed = AgentTokenFiles((*of)->folder).remove(region, maker);
  if (!removed.ok()) return removed.error();
  if (*removed) {
    log_.info(
        "rpc", "a token of agents is removed",
        {{"server", (*of)->name}, {"region", region}, {"by", caller.name}, {"peer", caller.peer}});
    (*of)->read_files();
  }
  const auto answer = new_message(*schema_, type_named("DeleteAgentTokenResponse"), arena);
  if (!answer.ok()) return answer.error();
  Fields(**answer).set_flag("deleted", *removed);
  return (*answer)->SerializeAsString();
}

}  // namespace davit::host
