// davit clusters install FILE..., davit clusters join-regions FILE...
#include <cstdio>
#include <sstream>

#include <davit/offer.hpp>

#include "davit.hpp"
#include "exit_codes.hpp"
#include "join_regions.hpp"
#include "offering.hpp"
#include "output.hpp"

namespace davit::host {
namespace {

int run_install(const std::vector<std::string>& files) {
  if (files.empty()) throw UsageError("names no configuration file");
  const OfferedCommand command{"clusters install", InstallationRole::id,
                               "these files name no cluster_controller"};
  return run_offered(command, files, [](const std::string& lines) {
    std::istringstream text(lines);
    for (std::string line; std::getline(text, line);) tell(stdout, line);
    return exit_code_done;
  });
}

}  // namespace

CommandPtr clusters_command() {
  auto files = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>(
      "clusters", "install|join-regions",
      "prepare a management cluster for Cluster resources, and make regions of them");
  auto verb = std::make_shared<Command>(
      "install", "FILE...",
      "apply the definition of Clusters in the cluster of these configuration files",
      [files] { return run_install(*files); });
  verb->words("FILE", *files, "as for run; a running process is not disturbed");
  verb->examples({"davit clusters install /etc/davit/clusters.toml"});
  command->verb(verb);
  command->verb(join_regions_verb());
  return command;
}

}  // namespace davit::host
