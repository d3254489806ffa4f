// Prints a merged configuration as TOML again, for `davit config dump`.
#pragma once

#include <functional>
#include <string>

#include "config/node.hpp"
#include "settings/setting.hpp"

namespace davit::host {

struct ConfigText {
  // Each key and table has the file and the line that it comes from beside it, as a comment.
  bool origin = false;
  // Finds what is known of the settings of a table, by its dotted name; nullptr: nothing. Those
  // that are not set are shown as comments, with their defaults. Empty: they are not shown.
  std::function<const Setting*(const Node& table)> settings;
};

// Secrets do not belong into these files. One that stands there all the same is shown as "***": the
// password of an address or of a connection string, and a key or an environment variable that is
// named so.
std::string config_text(const Node& root, const ConfigText& how);

// A value on one line: `["a", "b"]`, `{ x = 1 }`.
std::string value_text(const Node& value);

}  // namespace davit::host
