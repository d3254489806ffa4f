// davit agent forget REGION AGENT
#include <cstdio>

#include <davit/v1/operator.pb.h>

#include "davit.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

// A working agent reports at least every 30 s.
constexpr int64_t at_work_ms = 90'000;

struct Forget {
  ServerAddress server;
  Format format = Format::table;
  std::string region, agent;
};

int forget(const Forget& options) {
  if (options.region.empty() || options.agent.empty())
    throw UsageError("which one? (REGION AGENT)");
  v1::ForgetAgentRequest request;
  request.set_region(options.region);
  request.set_agent(options.agent);
  auto client = OperatorClient::open(options.server);
  if (!client.ok()) return not_usable("agent", client.error());
  v1::ForgetAgentResponse response;
  if (auto r = client->call("ForgetAgent", request, response); !r.ok())
    return failed("agent", r.error());
  if (options.format != Format::table) {
    print(to_json(response), options.format);
    return 0;
  }
  const int64_t now = unix_ms_now();
  const bool at_work = now - response.seen_at_unix_ms() < at_work_ms;
  std::printf("forgot agent %s of region %s, heard of %s ago%s\n", options.agent.c_str(),
              options.region.c_str(), age(response.seen_at_unix_ms(), now).c_str(),
              at_work ? "; it may come back: it was at work" : "");
  return 0;
}

}  // namespace

CommandPtr agent_command() {
  auto options = std::make_shared<Forget>();
  auto command = std::make_shared<Command>("agent", "forget REGION AGENT",
                                           "remove an agent's line from status");
  add_format(*command, options->format);
  options->server.add_options(*command);
  auto verb = std::make_shared<Command>(
      "forget", "REGION AGENT", "an agent that is still at work comes back with its next report",
      [options] { return forget(*options); });
  verb->word("REGION", options->region, "the agent's region");
  verb->word("AGENT", options->agent, "its name, as status shows it");
  verb->examples({"davit agent forget eu-1 node-7"});
  command->verb(std::move(verb));
  return command;
}

}  // namespace davit::host
