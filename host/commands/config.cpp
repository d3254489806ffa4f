#include "config/config.hpp"

#include <cstdio>
#include <map>

#include "config_schema.hpp"
#include "config_text.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
#include "output.hpp"

namespace davit::host {
namespace {

struct Dump {
  std::vector<std::string> files;
  bool origin = false, defaults = false;
};

// What is known of the settings of each table, asked for when the table is there.
class SettingsOfTables {
 public:
  explicit SettingsOfTables(const Config& config) : survey_(directories(config)) {}

  const Setting* of(const Node& table) {
    if (table.key == "host") return known("host", [&] { return survey_.host(); });
    if (table.key == "rpc.server." + table.name)
      return known("rpc.server", [&] { return survey_.rpc_server(); });
    if (table.key == "rpc.client." + table.name)
      return known("rpc.client", [&] { return survey_.rpc_client(); });
    if (table.key != "plugin." + table.name) return nullptr;
    const Node* module = table.find("module");
    if (module == nullptr || module->type != Node::Type::string) return nullptr;
    return known("plugin:" + module->string,
                 [&] { return survey_.module(module->string).settings; });
  }

 private:
  static std::vector<std::string> directories(const Config& config) {
    Faults faults;  // those of the values are for `davit check`
    return config.table("host", faults).paths("plugin_dirs");
  }
  template <class Ask>
  const Setting* known(const std::string& scope, const Ask& ask) {
    const auto found = known_.find(scope);
    return found != known_.end() ? &found->second : &known_.emplace(scope, ask()).first->second;
  }

  SettingsSurvey survey_;
  std::map<std::string, Setting> known_;
};

int dump(const Dump& options) {
  if (options.files.empty()) throw UsageError("names no configuration file");
  Faults faults;
  const Config config = Config::load(options.files, faults);
  for (const std::string& line : faults.lines()) tell(stderr, line);
  if (!faults.empty()) return exit_code_usage;
  ConfigText how{options.origin, {}};
  std::optional<SettingsOfTables> known;
  if (options.defaults) {
    known.emplace(config);
    how.settings = [&known](const Node& table) { return known->of(table); };
  }
  std::fputs(config_text(config.root(), how).c_str(), stdout);
  return exit_code_done;
}

CommandPtr dump_verb() {
  auto options = std::make_shared<Dump>();
  auto verb = std::make_shared<Command>("dump", "FILE... [--origin] [--defaults]",
                                        "print what these files say together, as TOML",
                                        [options] { return dump(*options); });
  verb->words("FILE", options->files, "as for run");
  verb->flag("--origin", options->origin, "beside each key, the file and line that it comes from");
  verb->flag("--defaults", options->defaults,
             "also the keys that are not set, as comments with their defaults");
  verb->examples({"davit config dump --origin /etc/davit/server.toml /etc/davit/conf.d"});
  return verb;
}

int schema(const std::vector<std::string>& directories) {
  SettingsSurvey survey(directories);
  const KnownSettings settings = known_settings(survey);
  for (const ModuleSettings& module : settings.modules) {
    if (!module.problem.empty()) tell(stderr, "left out: " + module.problem);
  }
  print(config_schema(settings), Format::json);
  return exit_code_done;
}

CommandPtr schema_verb() {
  auto directories = std::make_shared<std::vector<std::string>>();
  auto verb = std::make_shared<Command>(
      "schema", "[--dir DIR]...",
      "print a JSON Schema of configuration files, for editors; with the settings of every plugin "
      "that is installed",
      [directories] { return schema(*directories); });
  verb->options("--dir", "DIR", *directories, "also the plugins of this folder");
  verb->examples({"davit config schema > davit.schema.json"});
  return verb;
}

}  // namespace

CommandPtr config_command() {
  auto command = std::make_shared<Command>("config", "dump FILE... | schema",
                                           "show what configuration files say, or may say");
  command->verb(dump_verb());
  command->verb(schema_verb());
  return command;
}

}  // namespace davit::host
