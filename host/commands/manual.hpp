// The manual pages of davit, in the language of man(7). They are made when davit is built, by the
// hidden command `davit __manual DIR`: those of the commands from the texts that --help prints,
// that of the configuration from what `davit plugin show` prints. So each text stands once.
#pragma once

#include <string>
#include <string_view>

#include "command_line.hpp"
#include "config_schema.hpp"
#include "davit.hpp"

namespace davit::host {

// davit(1), and davit-NAME(1) of one of its commands, with its verbs.
std::string manual_of_davit(const Command& davit);
std::string manual_of_command(const Command& command);
// davit.toml(5).
std::string manual_of_settings(const KnownSettings& settings);

// A text as man(7) prints it: no letter of it means anything there.
std::string roff(std::string_view text);
// The first line of a page, and its name. There is no date, so that two builds are equal.
std::string manual_head(const std::string& name, int section, const std::string& about);
// A paragraph under a heading of its own: `.TP`.
std::string manual_item(const std::string& heading, const std::string& text);
// "-r, --region R", with the names in bold and the value in italics.
std::string manual_option(const CLI::Option& option);

CommandPtr manual_command(const Command& davit);

}  // namespace davit::host
