// YAML in and out for the operator's commands. JSON is YAML, so one reader takes both. yaml-cpp is
// visible in yaml.cpp only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

namespace davit::host {

// One document of a stream: its value, and the line of every key and item by its path
// ("spec.ports[0].name").
struct YamlDocument {
  boost::json::value value;
  std::map<std::string, int> lines;  // "" is the document's own

  // Of the path, or of the nearest thing around it that is there (a missing field: what should have
  // it).
  int line(std::string path) const;
};

// All documents of a text; empty ones are left out. Scalars follow YAML 1.2: what is quoted is a
// string, "yes" is one too. Errors carry "file:line" in `where`.
Result<std::vector<YamlDocument>> read_yaml(const std::string& text, const std::string& file);

// Block style; strings that would be read as something else are quoted.
std::string to_yaml(const boost::json::value& value);

}  // namespace davit::host
