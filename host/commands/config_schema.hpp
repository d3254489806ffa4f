// A JSON Schema (draft 2020-12) of Davit's configuration files, for editors: `davit config schema`.
#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include "assembly/settings_survey.hpp"

namespace davit::host {

// All settings that there are.
struct KnownSettings {
  Setting host, rpc_server, rpc_client;
  std::vector<ModuleSettings> modules;
};
KnownSettings known_settings(SettingsSurvey& survey);

// No key is required by it: a file may hold a part of a configuration, which others complete.
boost::json::object config_schema(const KnownSettings& settings);

}  // namespace davit::host
