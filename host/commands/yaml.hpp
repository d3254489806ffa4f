// Reads and writes YAML for the operator's commands. JSON is YAML, so one reader handles both. Only
// yaml.cpp includes yaml-cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

namespace davit::host {

// One document of a stream: its value, and the line of each key and item under its path
// ("spec.ports[0].name").
struct YamlDocument {
  boost::json::value value;
  std::map<std::string, int> lines;  // "" is the path of the document itself

  // The line of the path. If the path does not exist, the line of the nearest thing around it: a
  // missing field is reported at its parent.
  int line(std::string path) const;
};

// Reads all documents of a text, without the empty ones. Scalars follow YAML 1.2: quoted text is a
// string, and so is "yes". Errors have "file:line" in `where`.
Result<std::vector<YamlDocument>> read_yaml(const std::string& text, const std::string& file);

// How texts are written: each on one line; or those of several lines as blocks ("|"), and whatever
// YAML 1.1 reads as another type (yes, 1:30) in quotes, as kubectl needs it.
enum class YamlTexts { on_one_line, in_blocks };

// Writes block style. Strings that would be read as another type are quoted.
std::string to_yaml(const boost::json::value& value, YamlTexts texts = YamlTexts::on_one_line);

}  // namespace davit::host
