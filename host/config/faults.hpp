// The faults found in a configuration. They are collected, so that one run reports everything that
// must be fixed.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

class Faults {
 public:
  // Adds "agent.toml:12: plugin.applier.workers: must be an integer". Empty parts are left out. A
  // fault is always one line: control characters in it become spaces.
  void add(std::string_view where, std::string_view key, std::string_view message) {
    std::string line;
    for (std::string_view part : {where, key, message}) {
      if (part.empty()) continue;
      if (!line.empty()) line += ": ";
      line += part;
    }
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    lines_.push_back(std::move(line));
  }
  // Removes the faults whose line contains the text. Returns how many there were.
  size_t remove(std::string_view text) {
    return std::erase_if(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace davit::host
