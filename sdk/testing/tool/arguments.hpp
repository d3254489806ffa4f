// The command line of davit-conformance.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::conformance {

struct Arguments {
  std::string plugin;  // empty only with `help`
  std::string config;  // empty: none
  std::string filter = "*";
  std::chrono::seconds timeout{120};  // of one test; 0: no limit
  unsigned jobs = 1, repeat = 1;
  std::optional<uint64_t> seed;
  bool list = false, in_process = false, help = false;
  std::vector<std::string> gtest;  // other flags of GoogleTest; only with `in_process`
  // `--child NAME ARG... plugin.so`: a suite runs this tool again (suite.hpp).
  std::string child;
  std::vector<std::string> child_arguments;
};

// The words after the program's name. An error says what is wrong and what may have been meant.
Result<Arguments> parse_arguments(const std::vector<std::string>& words);

// What --help prints.
std::string help_text();

// Whether a filter of GoogleTest ("A.*:B.?-A.Slow") selects the test.
bool selects(std::string_view filter, std::string_view test);

}  // namespace davit::conformance
