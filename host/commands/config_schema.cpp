#include "config_schema.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "config/config.hpp"

namespace davit::host {
namespace {

namespace json = boost::json;

json::value json_of(const Node& node) {
  switch (node.type) {
    case Node::Type::string:
      return json::string(node.string);
    case Node::Type::integer:
      return node.integer;
    case Node::Type::real:
      return node.real;
    case Node::Type::boolean:
      return node.boolean;
    case Node::Type::array: {
      json::array out;
      for (const auto& child : node.children) out.push_back(json_of(*child));
      return out;
    }
    case Node::Type::table:
      break;
  }
  json::object out;
  for (const auto& child : node.children) out[child->name] = json_of(*child);
  return out;
}

// A value that is written in TOML; nothing if it is not.
std::optional<json::value> json_of_toml(const std::string& toml) {
  if (toml.empty()) return std::nullopt;
  Faults faults;
  const Config config = Config::parse("value = " + toml + "\n", "", faults);
  const Node* value = config.root().find("value");
  if (!faults.empty() || value == nullptr) return std::nullopt;
  return json_of(*value);
}

json::object reference(const std::string& to) {
  return {{"$ref", "#/$defs/" + to}};
}

// What people read: what it is for, its unit, and that it must be set.
std::string description(const Setting& setting) {
  std::string out = setting.about;
  const auto add = [&out](const std::string& more) { out += (out.empty() ? "" : "; ") + more; };
  if (const std::string unit = unit_of(setting.name); !unit.empty()) add("in " + unit);
  if (setting.required) add("must be set");
  return out;
}

json::object schema_of_table(const std::vector<Setting>& parts);

void add_type(const Setting& setting, json::object& to) {
  switch (setting.type) {
    case Setting::Type::unknown:
      return;
    case Setting::Type::string:
      to["type"] = "string";
      if (!setting.words.empty())
        to["enum"] = json::array(setting.words.begin(), setting.words.end());
      return;
    case Setting::Type::integer:
      to["type"] = "integer";
      if (setting.min != std::numeric_limits<int64_t>::min()) to["minimum"] = setting.min;
      if (setting.max != Setting::no_limit) to["maximum"] = setting.max;
      return;
    case Setting::Type::boolean:
      to["type"] = "boolean";
      return;
    case Setting::Type::strings:
      to["type"] = "array";
      to["items"] = {{"type", "string"}};
      return;
    case Setting::Type::entries:
      to["type"] = "object";
      to["additionalProperties"] = {{"type", "string"}};
      return;
    case Setting::Type::table:
      to = schema_of_table(setting.parts);
      return;
    case Setting::Type::tables:
      to["type"] = "array";
      to["items"] = schema_of_table(setting.parts);
      return;
  }
}

json::object schema_of(const Setting& setting) {
  json::object out;
  add_type(setting, out);
  if (const std::string text = description(setting); !text.empty()) out["description"] = text;
  if (auto value = json_of_toml(setting.usual)) out["default"] = std::move(*value);
  if (auto value = json_of_toml(setting.example)) out["examples"] = json::array{std::move(*value)};
  return out;
}

json::object schema_of_table(const std::vector<Setting>& parts) {
  json::object properties;
  for (const Setting& part : parts) properties[part.name] = schema_of(part);
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

json::object schema_of_module(const ModuleSettings& module) {
  json::object out = schema_of_table(module.settings.parts);
  std::string title = module.module + " " + module.version;
  out["title"] = title;
  out["properties"].as_object()["module"] = {
      {"const", module.module}, {"description", module.about.empty() ? title : module.about}};
  return out;
}

// Any of the modules. One that is not installed here has settings that nobody knows.
json::object schema_of_plugins(const std::vector<ModuleSettings>& modules) {
  json::array alternatives, names;
  for (const ModuleSettings& module : modules) {
    if (!module.problem.empty()) continue;
    alternatives.push_back(reference("plugin." + module.module));
    names.emplace_back(module.module);
  }
  alternatives.push_back({{"title", "a plugin that is not installed here"},
                          {"properties", {{"module", {{"not", {{"enum", names}}}}}}},
                          {"required", json::array{"module"}}});
  json::object instance{{"type", "object"},
                        {"properties", {{"module", {{"type", "string"}}}}},
                        {"anyOf", alternatives}};
  return {{"type", "object"},
          {"description", "instances of plugins, by names of your own"},
          {"propertyNames", {{"pattern", "^[a-z][a-z0-9_]{0,63}$"}}},
          {"additionalProperties", instance}};
}

json::object tables_of(const std::string& definition, const std::string& about) {
  return {
      {"type", "object"}, {"description", about}, {"additionalProperties", reference(definition)}};
}

}  // namespace

KnownSettings known_settings(SettingsSurvey& survey) {
  return {survey.host(), survey.rpc_server(), survey.rpc_client(), survey.all_modules()};
}

json::object config_schema(const KnownSettings& settings) {
  json::object definitions{{"host", schema_of_table(settings.host.parts)},
                           {"rpc.server", schema_of_table(settings.rpc_server.parts)},
                           {"rpc.client", schema_of_table(settings.rpc_client.parts)}};
  for (const ModuleSettings& module : settings.modules) {
    if (module.problem.empty()) definitions["plugin." + module.module] = schema_of_module(module);
  }
  const json::object rpc{{"type", "object"},
                         {"properties",
                          {{"server", tables_of("rpc.server", "listeners, by names of your own")},
                           {"client", tables_of("rpc.client", "peers, by names of your own")}}},
                         {"additionalProperties", false}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Davit " DAVIT_VERSION},
          {"description", "A configuration of davit, or a part of one that is merged with others"},
          {"type", "object"},
          {"properties",
           {{"host", reference("host")},
            {"rpc", rpc},
            {"plugin", schema_of_plugins(settings.modules)}}},
          {"additionalProperties", false},
          {"$defs", definitions}};
}

}  // namespace davit::host
