// The executable with a file of its own, and what its log says was done by whom.
#pragma once

#include <gtest/gtest.h>

#include "process.hpp"

namespace davit::test {

inline const std::string head = "[host]\nplugin_dirs = [\"" FIXTURES "\"]\nstate_dir = \"state\"\n";

// "a create,b create": who did what, out of the log, between `from` and `to`.
inline std::string steps(const std::string& log, const std::vector<std::string>& wanted) {
  std::string out;
  size_t at = 0;
  while (at < log.size()) {
    const size_t end = log.find('\n', at);
    const std::string line = log.substr(at, end - at);
    at = end == std::string::npos ? log.size() : end + 1;
    if (line.size() < 42) continue;
    const std::string instance = line.substr(31, line.find(' ', 31) - 31);
    const std::string message = line.substr(41);
    for (const std::string& step : wanted) {
      if (message == step) out += (out.empty() ? "" : ",") + instance + " " + step;
    }
  }
  return out;
}

class Program : public testing::Test {
 protected:
  std::string file(const std::string& body) { return folder_.write("a.toml", head + body); }
  Folder folder_;
};

}  // namespace davit::test
