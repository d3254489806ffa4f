#include "agent_join.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "agent_manifests.hpp"
#include "exit_codes.hpp"
#include "fitted_agent.hpp"
#include "installation_options.hpp"
#include "loader/loader.hpp"
#include "operator_client.hpp"
#include "output.hpp"
#include "rpc/agent_token_files.hpp"
#include "settings/shipped_files.hpp"

#include "temporary_folder.hpp"
#include "token_client.hpp"

namespace davit::host {

namespace {

struct Join {
  InstallationOptions installation;
  ServerAddress server;
  std::string region, listener, existing, agent_ca_file;
  std::vector<std::string> files;
};

// By module, from the notes of the plugins that are installed here: whether it is a kind.
std::map<std::string, bool> modules_here() {
  std::map<std::string, bool> out;
  for (const ListedModule& m : Loader({Loader::default_directory()}).list()) {
    out[m.name] = std::any_of(m.note.roles.begin(), m.note.roles.end(),
                              [](const std::string& role) { return role.starts_with("kind/"); });
  }
  return out;
}

// The kinds that the server has.
Result<std::vector<ServerPlugin>> kinds_of(const AgentsOfServer& server,
                                           const std::map<std::string, bool>& here) {
  std::vector<ServerPlugin> out;
  for (const ServerPlugin& plugin : server.plugins) {
    const auto found = here.find(plugin.module);
    if (found == here.end() && plugin.module.starts_with("kind_")) {
      return Error{Code::failed_precondition,
                   "the server has the kind " + plugin.module +
                       ", whose plugin is not installed here: install it, or name the files of the "
                       "agent's configuration"};
    }
    if (found != here.end() && found->second) out.push_back(plugin);
  }
  if (out.empty()) {
    return Error{Code::failed_precondition,
                 "the server has no kind that is installed here: name the files of the agent's "
                 "configuration"};
  }
  return out;
}

bool is_web(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

// What the agent dials: as given, as the server says, or as this command does.
Result<std::string> url_for_agents(const Join& o, const AgentsOfServer& server) {
  if (!o.installation.url.empty()) return o.installation.url;
  if (!server.public_url.empty()) return server.public_url;
  if (is_web(o.server.url)) return o.server.url;
  return Error{Code::failed_precondition,
               "the server does not say how agents reach it: set public_url in [rpc.server." +
                   server.listener + "], or give --url"};
}

Result<AgentConfiguration> configuration_of(const Join& o, const AgentsOfServer& server,
                                            const AgentInstallation& installation) {
  if (!o.files.empty()) return read_agent_configuration(o.files, installation);
  const auto here = modules_here();
  const auto kinds = kinds_of(server, here);
  if (!kinds.ok()) return kinds.error();
  const auto is_kind = [&](const std::string& module) {
    const auto found = here.find(module);
    return found == here.end() ? module.starts_with("kind_") : found->second;
  };
  const TemporaryFolder folder;
  if (folder.path().empty()) return Error{Code::internal, "no folder for temporary files"};
  const std::string file =
      folder.write("agent.toml", fitted_agent_toml(shipped_file("agent.toml"), *kinds, is_kind,
                                                   installation.url, installation.region));
  return read_agent_configuration({file}, installation);
}

Error has_token(const std::string& region) {
  return {Code::already_exists,
          "region " + region +
              " has a token: --existing keep gives it to this agent, too, and --existing replace "
              "makes another, which its present agents do not have"};
}

int join(const Join& o) {
  if (o.region.empty()) throw UsageError("of which region? (--region R)");
  if (const std::string fault = folder_region_fault(o.region); !fault.empty())
    throw UsageError(fault);
  require_existing("--existing", o.existing);
  AgentInstallation installation = o.installation.read();
  installation.region = o.region;
  auto client = OperatorClient::open(o.server);
  if (!client.ok()) return not_usable("agent", client.error());
  const TokenClient tokens(*client, o.listener);
  const auto server = tokens.describe(o.region);
  if (!server.ok()) return failed("agent", server.error());
  if (server->region_has_token && o.existing.empty()) return failed("agent", has_token(o.region));
  const auto url = url_for_agents(o, *server);
  if (!url.ok()) return failed("agent", url.error());
  installation.url = *url;
  if (url->starts_with("https://"))
    installation.ca_file = o.agent_ca_file.empty() ? o.server.ca_file : o.agent_ca_file;
  // No token is made for a configuration that no agent can run with.
  const auto configuration = configuration_of(o, *server, installation);
  if (!configuration.ok()) return not_usable("agent", configuration.error());
  auto token = tokens.create(o.region, o.existing);
  if (!token.ok()) return failed("agent", token.error());
  installation.token = std::move(token->token);
  std::fputs(manifests_text(agent_manifests(*configuration, installation)).c_str(), stdout);
  return exit_code_done;
}

}  // namespace

CommandPtr join_verb() {
  auto o = std::make_shared<Join>();
  auto verb = std::make_shared<Command>(
      "join", "--region R [--server URL] [FILE...]",
      "make a region's token and print what runs its agent, for kubectl apply -f -",
      [o] { return join(*o); });
  verb->words("FILE", o->files,
              "the agent's configuration, as for run; as shipped with the server's kinds when "
              "absent");
  verb->option("-r,--region", "R", o->region, "where the cluster is: its token is made");
  o->installation.add_options(*verb);
  verb->option("--existing", "keep|replace", o->existing,
               "when the region has a token; it is refused when absent");
  verb->option("--listener", "NAME", o->listener,
               "of [rpc.server.NAME]; needed when several have tokens of agents");
  verb->option("--agent-ca-file", "FILE", o->agent_ca_file,
               "whom the agent trusts as its server; that of --ca-file when absent");
  o->server.add_options(*verb);
  verb->examples({"davit agent join --region eu-3 | kubectl apply -f -",
                  "davit agent join --region eu-3 --server https://control.example:7070 "
                  "--token-file operator.token --ca-file ca.crt | kubectl apply -f -"});
  return verb;
}

}  // namespace davit::host
