#include "table.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "config/suggest.hpp"
#include "exit_codes.hpp"

namespace davit::host {

namespace {

// The options of every command that calls a server.
constexpr const char* server_options =
    "  --server URL       unix:/PATH, http://HOST:PORT or https://HOST:PORT; also\n"
    "                     $DAVIT_SERVER; the packaged server's socket when absent\n"
    "  --token-file FILE  an operator's token, which a server asks for over TCP\n"
    "  --ca-file FILE     whom to trust, instead of the system's authorities\n"
    "  --timeout 60s      give up when the command has not ended by then; without it,\n"
    "                     when a call is not answered within 30s, or 5m for a list\n";

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"run", "FILE...", "run the plugins that these files name, until SIGTERM",
       "  FILE  TOML; a directory stands for its *.toml; later ones are merged over\n"
       "        earlier ones\n",
       false, &run_run},
      {"check", "FILE... [--running | --rights]",
       "load and wire everything, print the graph, start nothing",
       "  FILE       as for run; when this passes, run starts\n"
       "  --running  beside a davit that runs these files: what it holds is no fault\n"
       "  --rights   print the ClusterRole (and Role) that an agent's account needs,\n"
       "             and ask nobody\n",
       false, &run_check},
      {"plugin", "list [--dir DIR]", "show the plugins that are installed",
       "  --dir DIR  those of another directory\n", false, &run_plugin},
#ifdef DAVIT_COMMAND_APPLY
      {"apply", "-f FILE [--wait]", "make the desired state what the documents say",
       "  -f, --file FILE    YAML or JSON; - is standard input; may be repeated\n"
       "  --wait             until all run at this version, or cannot; without --timeout\n"
       "                     for 60s\n"
       "  --again            also what is unchanged: agents apply it once more\n"
       "  --dry-run          say what would change, and change nothing\n"
       "  -o table|json|yaml\n",
       true, &run_apply},
#endif
#ifdef DAVIT_COMMAND_GET
      {"get", "[KIND [ID]] [-o table|json|yaml]", "show desired state",
       "  -r, --region R     of this region only\n"
       "  -w, --watch        and then each change, as it comes; goes on after the server\n"
       "                     was away\n"
       "  --deleted          deleted records, too; those cannot be applied again\n"
       "  -o table|json|yaml what yaml and json print can be applied again\n",
       true, &run_get},
#endif
#ifdef DAVIT_COMMAND_DELETE
      {"delete", "KIND ID|--orphaned --region R | -f FILE", "delete from the desired state",
       "  -r, --region R     where the record belongs\n"
       "  -f, --file FILE    the records of these documents; - is standard input\n"
       "  --orphaned         what the region's agents show as orphaned, instead of an ID\n"
       "  --dry-run          say what would be deleted, and delete nothing\n"
       "  -o table|json|yaml\n",
       true, &run_delete},
#endif
#ifdef DAVIT_COMMAND_STATUS
      {"status", "[KIND [ID]] [-o table|json|yaml]", "show desired beside observed state",
       "  -r, --region R     of this region only\n"
       "  -o table|json|yaml\n",
       true, &run_status},
#endif
#ifdef DAVIT_COMMAND_AGENT
      {"agent", "forget REGION AGENT", "forget what an agent said of itself",
       "  what is at work comes back with its next word\n"
       "  -o table|json|yaml\n",
       true, &run_agent},
#endif
#ifdef DAVIT_COMMAND_STORAGE
      {"storage", "backup|restore|verify|maintain", "copy the store, check it, tidy it up",
       "  backup FILE            one state of the running store, on the server's machine\n"
       "  restore FILE CONFIG... of a server that is stopped: the copy becomes the store\n"
       "                         of these configuration files; the old one is kept\n"
       "    --storage NAME       when they name several\n"
       "  verify [FILE]          read all of the store, or of a copy on the server's\n"
       "                         machine\n"
       "  maintain               remove tombstones that nobody needs any more\n"
       "    --dry-run            say what would go, and remove nothing\n"
       "    --retention 7d       how long they are kept at least; the server's setting\n"
       "                         when absent\n"
       "  -o table|json|yaml\n",
       true, &run_storage},
#endif
      {"explain", "[WORD]", "say what a word of status means, and what to do",
       "  WORD  parked, held, orphaned, unknown, taken over, unhealthy, ...; all when\n"
       "        absent\n",
       false, &run_explain},
  };
  return table;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int usage_error(std::string_view name, std::string_view problem) {
  const Command* command = find_command(name);
  std::fprintf(stderr, "davit %.*s: %.*s (usage: davit %.*s %s)\n", static_cast<int>(name.size()),
               name.data(), static_cast<int>(problem.size()), problem.data(),
               static_cast<int>(name.size()), name.data(),
               command == nullptr ? "" : command->usage);
  return exit_code_usage;
}

namespace {

// Returns the exit code of a command if its output has been written, otherwise the code of a
// failure. A pipe whose reader is gone is not reported.
int written(const char* name, int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int why = errno;
  if (why != EPIPE) {
    std::fprintf(stderr, "davit %s: the output cannot be written%s%s\n", name, why == 0 ? "" : ": ",
                 why == 0 ? "" : std::strerror(why));
  }
  return code == exit_code_done ? exit_code_failed : code;
}

void print_help(std::FILE* to) {
  std::fputs("davit keeps Kubernetes clusters in many regions as a control plane wants them\n\n",
             to);
  for (const Command& command : commands())
    std::fprintf(to, "  davit %-9s  %s\n", command.name, command.summary);
  std::fprintf(to, "  davit %-9s  %s\n  davit %-9s  %s\n", "--version", "print the version", "help",
               "print this; davit COMMAND --help says how a command is meant");
  std::fputs("\nexit codes:\n", to);
  for (const ExitMeaning& e : exit_meanings()) std::fprintf(to, "  %d  %s\n", e.code, e.means);
}

}  // namespace

int run_davit(std::vector<std::string> words) {
  if (words.empty()) {
    print_help(stderr);
    return exit_code_usage;
  }
  const std::string name = words.front();
  words.erase(words.begin());
  if (name == "help" || name == "--help" || name == "-h") {
    print_help(stdout);
    return written("help", 0);
  }
  if (name == "--version" || name == "version") {
    std::printf("davit %s\n", DAVIT_VERSION);
    return 0;
  }
  if (const Command* command = find_command(name)) {
    for (const std::string& word : words) {
      if (word == "--") break;
      if (word != "--help" && word != "-h") continue;
      std::printf("davit %s %s\n%s\n\n%s%s", command->name, command->usage, command->summary,
                  command->options, command->asks_server ? server_options : "");
      return written(command->name, exit_code_done);
    }
    return written(command->name, command->run(Arguments(std::move(words))));
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  const std::string near = nearest(name, names);
  const std::string advice = near.empty() ? "see davit help" : "did you mean \"" + near + "\"?";
  std::fprintf(stderr, "davit: no command \"%s\"; %s\n", name.c_str(), advice.c_str());
  return exit_code_usage;
}

}  // namespace davit::host
