#include "settings_survey.hpp"

#include <algorithm>
#include <functional>

#include "assembly.hpp"
#include "config/config.hpp"
#include "extension.hpp"
#include "host_settings.hpp"
#include "loader/loader.hpp"
#include "observability/endpoint.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "services/shutdown.hpp"
#include "settings/probe.hpp"

namespace davit::host {
namespace {

constexpr const char* probed = "plugin.probe";

std::vector<std::string> with_default(std::vector<std::string> directories) {
  directories.push_back(Loader::default_directory());
  return directories;
}

// Lets `reader` read one text after the other, until nothing new can be learnt.
Setting probe(SettingsProbe probe, const std::function<void(const Config&, Faults&)>& reader) {
  while (!probe.done()) {
    Faults faults;
    const Config config = Config::parse(probe.text(), SettingsProbe::file, faults);
    reader(config, faults);
    probe.learn(config.root(), faults);
  }
  return probe.found();
}

}  // namespace

struct SettingsSurvey::Parts {
  explicit Parts(std::vector<std::string> directories)
      : loader(with_default(std::move(directories))) {
    add_host_services(services);
    for (auto* make : {&make_codec, &make_rpc, &make_endpoint}) {
      extensions.push_back(make(core));
      services.add([&part = *extensions.back()](std::string_view id) { return part.service(id); });
    }
  }

  Log log{[](std::string_view) {}};  // what plugins say of wrong settings is of no use here
  Metrics metrics;
  Health health;
  Shutdown shutdown;
  Runtime runtime{1};
  Core core{log, runtime, metrics, health, shutdown};
  Services services;
  std::vector<std::unique_ptr<Extension>> extensions;
  Loader loader;
};

SettingsSurvey::SettingsSurvey(std::vector<std::string> directories)
    : parts_(std::make_unique<Parts>(std::move(directories))), catalogue_(Catalogue::shipped()) {}

SettingsSurvey::~SettingsSurvey() = default;

std::vector<std::string> SettingsSurvey::modules() const {
  std::vector<std::string> out;
  for (const ListedModule& module : parts_->loader.list()) out.push_back(module.name);
  return out;
}

ModuleSettings SettingsSurvey::module(const std::string& name) {
  ModuleSettings out;
  out.module = name;
  const auto loaded = parts_->loader.load(name);
  if (!loaded.ok()) {
    out.problem = loaded.error().message;
    return out;
  }
  out.path = (*loaded)->path;
  out.version = (*loaded)->note.version;
  out.roles = (*loaded)->note.roles;
  out.about = catalogue_.about_module(name);
  const auto create = [&](const Config& config, Faults& faults) {
    Assembly assembly(parts_->core, parts_->services, parts_->loader, "/nonexistent",
                      std::chrono::seconds(1));
    assembly.create(config, faults);
    assembly.destroy();
  };
  out.settings = probe(SettingsProbe(probed, "module = \"" + name + "\""), create);
  catalogue_.describe("plugin:" + name, out.settings);
  return out;
}

std::vector<ModuleSettings> SettingsSurvey::all_modules() {
  std::vector<ModuleSettings> out;
  for (const std::string& name : modules()) out.push_back(module(name));
  return out;
}

Setting SettingsSurvey::probe_host(const std::string& table, const std::string& scope,
                                   const std::string& given) {
  const auto configure = [&](const Config& config, Faults& faults) {
    read_host_settings(config, faults);
    for (auto* make : {&make_codec, &make_rpc, &make_endpoint})
      make(parts_->core)->configure(config, faults);
  };
  Setting out = probe(SettingsProbe(table, given), configure);
  catalogue_.describe(scope, out);
  return out;
}

Setting SettingsSurvey::host() {
  return probe_host("host", "host");
}
Setting SettingsSurvey::rpc_server() {
  constexpr const char* table = "rpc.server.probe";
  Setting out = probe_host(table, "rpc.server");
  // A Unix socket has settings of its own.
  for (Setting& part : probe_host(table, "rpc.server", "listen = \"unix:/probe\"").parts) {
    if (out.part(part.name) == nullptr) out.parts.push_back(std::move(part));
  }
  std::sort(out.parts.begin(), out.parts.end(),
            [](const Setting& a, const Setting& b) { return a.name < b.name; });
  return out;
}
Setting SettingsSurvey::rpc_client() {
  return probe_host("rpc.client.probe", "rpc.client");
}

}  // namespace davit::host
