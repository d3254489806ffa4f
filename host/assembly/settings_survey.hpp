// Which settings there are: those of the host, and those of every plugin that is installed. Makes
// instances of the plugins, with nothing but wrong settings, as settings/probe.hpp says; none is
// wired or started. Each setting also has what the shipped files say of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "settings/catalogue.hpp"
#include "settings/setting.hpp"

namespace davit::host {

struct ModuleSettings {
  std::string module, version, path;
  std::vector<std::string> roles;
  std::string problem;  // why it cannot be loaded; then there are no settings
  std::string about;    // what the shipped files say of it
  Setting settings;     // as parts
};

class SettingsSurvey {
 public:
  // `directories`: folders of plugins, besides that of this installation.
  explicit SettingsSurvey(std::vector<std::string> directories = {});
  ~SettingsSurvey();

  std::vector<std::string> modules() const;  // the names of all that are installed
  ModuleSettings module(const std::string& name);
  std::vector<ModuleSettings> all_modules();
  Setting host();        // [host]
  Setting rpc_server();  // [rpc.server.NAME]
  Setting rpc_client();  // [rpc.client.NAME]

 private:
  struct Parts;
  Setting probe_host(const std::string& table, const std::string& scope,
                     const std::string& given = {});

  std::unique_ptr<Parts> parts_;
  Catalogue catalogue_;
};

}  // namespace davit::host
