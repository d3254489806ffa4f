// davit agent forget|manifests|join|leave
#include <cstdio>

#include <davit/v1/operator.pb.h>

#include "agent_join.hpp"
#include "agent_manifests.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "installation_options.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "read_file.hpp"
#include "rpc/token_file.hpp"
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

CommandPtr forget_verb() {
  auto options = std::make_shared<Forget>();
  auto verb = std::make_shared<Command>(
      "forget", "REGION AGENT", "an agent that is still at work comes back with its next report",
      [options] { return forget(*options); });
  verb->word("REGION", options->region, "the agent's region");
  verb->word("AGENT", options->agent, "its name, as status shows it");
  add_format(*verb, options->format);
  options->server.add_options(*verb);
  verb->examples({"davit agent forget eu-1 node-7"});
  return verb;
}

struct Manifests {
  InstallationOptions installation;
  std::string token_file, token_secret, region, ca_file;
  std::vector<std::string> files;
};

// The token as it stands in its file, without the line's end.
Result<std::string> read_token(const std::string& file) {
  auto text = read_file(file);
  if (!text.ok()) return text;
  std::string token(token_of(*text));
  if (token.empty()) return Error{Code::invalid_argument, file + ": " + no_token};
  return token;
}

int manifests(const Manifests& options) {
  if (options.files.empty()) throw UsageError("names no configuration file");
  if (options.token_file.empty() == options.token_secret.empty())
    throw UsageError("which token does the agent have? (--token-file FILE or --token-secret NAME)");
  AgentInstallation installation = options.installation.read();
  installation.region = options.region;
  installation.ca_file = options.ca_file;
  installation.token_secret = options.token_secret;
  if (!options.token_file.empty()) {
    auto token = read_token(options.token_file);
    if (!token.ok()) return not_usable("agent", token.error());
    installation.token = std::move(*token);
  }
  const auto configuration = read_agent_configuration(options.files, installation);
  if (!configuration.ok()) return not_usable("agent", configuration.error());
  std::fputs(manifests_text(agent_manifests(*configuration, installation)).c_str(), stdout);
  return exit_code_done;
}

CommandPtr manifests_verb() {
  auto options = std::make_shared<Manifests>();
  auto verb = std::make_shared<Command>(
      "manifests", "FILE... --token-file FILE|--token-secret NAME",
      "print what runs an agent in its cluster, for kubectl apply -f -; asks nobody",
      [options] { return manifests(*options); });
  verb->words("FILE", options->files, "the agent's configuration, as for run");
  options->installation.add_options(*verb);
  verb->option("--token-file", "FILE", options->token_file,
               "the agent's token, which goes into a Secret");
  verb->option("--token-secret", "NAME", options->token_secret,
               "a Secret of the namespace that has the token as `token`, instead");
  verb->option("-r,--region", "R", options->region, "where the cluster is; else as configured");
  verb->option("--ca-file", "FILE", options->ca_file,
               "whom the agent trusts as its server, which goes into the ConfigMap");
  verb->examples(
      {"davit agent manifests /etc/davit/agent.toml --region eu-1 --token-file "
       "eu-1.token | kubectl apply -f -"});
  return verb;
}

}  // namespace

CommandPtr agent_command() {
  auto command = std::make_shared<Command>("agent", "forget|manifests|join|leave",
                                           "install an agent, or give up its region");
  command->verb(forget_verb());
  command->verb(manifests_verb());
  command->verb(join_verb());
  command->verb(leave_verb());
  return command;
}

}  // namespace davit::host
