#include "assembly/application.hpp"
#include "davit.hpp"

namespace davit::host {

namespace {

struct Check {
  std::vector<std::string> files;
  bool running = false;
  bool rights = false;
};

int check(const Check& options) {
  if (options.files.empty()) throw UsageError("names no configuration file");
  Application application(options.files);
  return options.rights ? application.rights() : application.check(options.running);
}

}  // namespace

CommandPtr check_command() {
  auto options = std::make_shared<Check>();
  auto command =
      std::make_shared<Command>("check", "FILE... [--running | --rights]",
                                "load and wire everything, print the graph, start nothing",
                                [options] { return check(*options); });
  command->words("FILE", options->files, "as for run; run starts when this passes");
  command->flag("--running", options->running,
                "a davit of these files is running: its ports and its database are no fault");
  command->flag("--rights", options->rights,
                "print the ClusterRole (and Role) that an agent's account needs, and ask nobody");
  command->examples({"davit check /etc/davit/server.toml /etc/davit/conf.d",
                     "davit check --rights /etc/davit/agent.toml | kubectl apply -f -"});
  return command;
}

}  // namespace davit::host
