#include "assembly/application.hpp"
#include "assembly/private_process.hpp"
#include "davit.hpp"

namespace davit::host {

CommandPtr run_command() {
  auto files = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>(
      "run", "FILE...", "run the plugins that these files name, until SIGTERM", [files] {
        if (files->empty()) throw UsageError("names no configuration file");
        bind_libraries_early();
        return Application(*files).run();
      });
  command->words(
      "FILE", *files,
      "TOML; a directory stands for its *.toml; later ones are merged over earlier ones. One whose "
      "name ends in .d need not be there");
  command->examples({"davit run /etc/davit/server.toml /etc/davit/server.conf.d"});
  return command;
}

}  // namespace davit::host
