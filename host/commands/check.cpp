#include <sys/types.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "assembly/application.hpp"
#include "davit.hpp"

namespace davit::host {

namespace {

struct Check {
  std::vector<std::string> files;
  bool running = false;
  bool quiet = false;
  std::string reload;  // the number of a process
  bool rights = false;
  bool sandbox = false;
};

pid_t process_of(const std::string& text) {
  pid_t out = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec != std::errc() || read.ptr != end || out <= 1)
    throw UsageError("--reload takes the number of a process, not \"" + text + "\"");
  return out;
}

// Checks, and lets the davit that runs read the same files again.
int check_and_reload(Application& application, const Check& options) {
  const pid_t process = process_of(options.reload);
  const int code = application.check(true, options.quiet);
  if (code != exit_ok || ::kill(process, SIGHUP) == 0) return code;
  std::fprintf(stderr, "davit check: process %s cannot be told to read the files again: %s\n",
               options.reload.c_str(), std::strerror(errno));
  return exit_failed;
}

int check(const Check& options) {
  if (options.files.empty()) throw UsageError("names no configuration file");
  Application application(options.files);
  if (options.sandbox) return application.sandbox();
  if (!options.reload.empty()) return check_and_reload(application, options);
  return options.rights ? application.rights() : application.check(options.running, options.quiet);
}

}  // namespace

CommandPtr check_command() {
  auto options = std::make_shared<Check>();
  auto command = std::make_shared<Command>(
      "check", "FILE... [--running | --reload PID] [--quiet] | --rights | --sandbox",
      "load and wire everything, print the graph, start nothing",
      [options] { return check(*options); });
  command->words("FILE", options->files, "as for run; run starts when this passes");
  command->flag("--running", options->running,
                "a davit of these files is running: its ports and its database are no fault");
  command->option("--reload", "PID", options->reload,
                  "a davit of these files is this process: if they are right, it reads them again "
                  "(SIGHUP)");
  command->flag("--quiet", options->quiet, "print faults only, and no graph");
  command->flag("--rights", options->rights,
                "print the ClusterRole (and Role) that an agent's account needs, and ask nobody");
  command->flag("--sandbox", options->sandbox,
                "print what plugins need beyond the sandbox of the shipped systemd units, as a "
                "drop-in, and ask nobody");
  command->examples({"davit check /etc/davit/server.toml /etc/davit/server.conf.d",
                     "davit check --rights /etc/davit/agent.toml | kubectl apply -f -"});
  return command;
}

}  // namespace davit::host
