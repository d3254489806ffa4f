// What a process says that was installed and started, and that nobody has configured yet: one line
// that says what to write where. It then ends with exit_unconfigured, and the service manager does
// not try again.
#pragma once

#include <string>
#include <vector>

namespace davit::host {

// The line for the first file of the command line that is not there. Empty: all are there.
std::string absent_configuration(const std::vector<std::string>& files);
// The line for a file that the configuration names and that is not there, such as a token.
// `what`: the setting and the file.
std::string absent_file(const std::string& what, const std::vector<std::string>& files);

}  // namespace davit::host
