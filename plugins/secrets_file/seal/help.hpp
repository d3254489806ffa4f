// The help of davit-seal, in the form of davit's: 80 columns, names on the left.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace davit::secrets_file {

struct HelpRow {
  std::string name, about;
};
std::string two_columns(const std::vector<HelpRow>& rows);

std::string command_help(const CLI::App& command, const std::string& usage);

// Prints to standard output. Returns a SealExit.
int print(const std::string& text);

}  // namespace davit::secrets_file
