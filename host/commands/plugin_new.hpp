// `davit plugin new`: a project for a plugin, from a template of the SDK. A template is a folder
// share/davit/templates/ROLE/LANGUAGE; the folder `common` beside the roles belongs to each of
// them. Words such as @name@ in the files and in their names are replaced.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <davit/types.hpp>

#include "command_line.hpp"

namespace davit::host {

struct NewPlugin {
  std::string role, language = "c++", name;
  std::string directory;  // where it is written; empty: a new folder called like the plugin
};

// The words that stand for `name` in a template: @name@ "kind_blue_box", @Name@ "KindBlueBox",
// @dashed@ "kind-blue-box", @kind@ "blue_box", @Kind@ "BlueBox", @kind_dashed@ "blue-box".
std::map<std::string, std::string> words_of_plugin(const std::string& name);
// Replaces @word@ by its value. A word that is not there stays as it is.
std::string filled_in(const std::string& text, const std::map<std::string, std::string>& words);

// Writes the project. Returns its folder. INVALID_ARGUMENT: no template, or no name; the message
// lists what there is. `templates`: the folder of all templates.
Result<std::string> write_new_plugin(const NewPlugin& plugin, const std::string& templates);

// The verb.
std::shared_ptr<Command> plugin_new_verb();

}  // namespace davit::host
