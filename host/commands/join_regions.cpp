// davit clusters join-regions FILE...: a program for the plugin actuator_exec.
#include <cstdio>

#include "actuator_program.hpp"
#include "cluster_region.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "installation_options.hpp"
#include "join_regions.hpp"
#include "output.hpp"
#include "read_file.hpp"

namespace davit::host {
namespace {

struct JoinRegions {
  RegionSettings settings;
  InstallationOptions installation;
  std::string agent_ca_file, drain_seconds, agent_seconds;
};

RegionSettings settings_of(const JoinRegions& options) {
  constexpr int64_t seconds_max = 86'400;
  RegionSettings out = options.settings;
  if (out.files.empty()) throw UsageError("names no configuration file");
  if (out.tokens_dir.empty() == out.notes_dir.empty()) {
    throw UsageError(
        "who makes the agents' tokens? (--notes DIR: the server, and DIR is for notes; --tokens "
        "DIR: this program, and DIR is the server's agent_tokens_dir)");
  }
  if (!out.kubeconfig_at.starts_with('/'))
    throw UsageError("--kubeconfig-at must be a JSON pointer, such as " +
                     RegionSettings().kubeconfig_at);
  out.installation = options.installation.read();
  out.installation.ca_file = options.agent_ca_file;
  out.drain = std::chrono::seconds(number_option("--drain-seconds", options.drain_seconds,
                                                 out.drain.count() / 1000, 0, seconds_max));
  out.agent = std::chrono::seconds(number_option("--agent-seconds", options.agent_seconds,
                                                 out.agent.count() / 1000, 0, seconds_max));
  return out;
}

int join_regions(const JoinRegions& options) {
  const RegionSettings settings = settings_of(options);
  const auto text = read_standard_input();
  if (!text.ok()) return not_usable("clusters", text.error());
  const auto request = read_actuator_request(*text);
  if (!request.ok()) return not_usable("clusters", request.error());
  ClusterRegion region(settings);
  const ActuatorAnswer answer = request->remove ? region.leave(*request) : region.join(*request);
  std::puts(actuator_answer_text(answer).c_str());
  return exit_code_done;
}

}  // namespace

CommandPtr join_regions_verb() {
  auto o = std::make_shared<JoinRegions>();
  auto verb = std::make_shared<Command>(
      "join-regions", "FILE... --notes DIR|--tokens DIR",
      "make a region of a Cluster, or give it up: a program that actuator_exec runs",
      [o] { return join_regions(*o); });
  verb->words("FILE", o->settings.files, "the agents' configuration, as for run");
  verb->option("--notes", "DIR", o->settings.notes_dir,
               "for notes of what was begun, kept for good; the server makes and removes tokens");
  verb->option("--tokens", "DIR", o->settings.tokens_dir,
               "the server's agent_tokens_dir, instead: tokens are made and removed there");
  verb->option("--listener", "NAME", o->settings.listener,
               "of [rpc.server.NAME]; needed when several have tokens of agents");
  o->installation.add_options(*verb);
  verb->option("--agent-ca-file", "FILE", o->agent_ca_file,
               "whom agents trust as their server, which goes into the ConfigMap");
  verb->option("--kubectl", "PROGRAM", o->settings.kubectl, "kubectl of the PATH when absent");
  verb->option("--kubeconfig-at", "POINTER", o->settings.kubeconfig_at,
               "where a Cluster has its kubeconfig, or the path of one; " +
                   o->settings.kubeconfig_at + " when absent");
  verb->option("--drain-seconds", "N", o->drain_seconds,
               "how long an agent at work may take to remove what there is; 600 when absent");
  verb->option("--agent-seconds", "N", o->agent_seconds,
               "how long one that is away, or does not end, is waited for; 60 when absent");
  o->settings.server.add_options(*verb);
  verb->examples(
      {"davit clusters join-regions --notes /var/lib/davit/regions --url "
       "https://control.example:7070 /etc/davit/agent.toml"});
  return verb;
}

}  // namespace davit::host
