#include "print_graph.hpp"

#include <algorithm>

namespace davit::host {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// Columns as wide as their widest cell, two spaces apart; no trailing spaces.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string print_graph(const std::vector<Assembly::Line>& lines,
                        const std::vector<Described>& described) {
  std::vector<std::vector<std::string>> rows = {{"INSTANCE", "MODULE", "VERSION", "ROLES", "USES"}};
  for (const auto& line : lines) {
    rows.push_back(
        {line.instance, line.module, line.version, joined(line.roles), joined(line.uses)});
  }
  std::string out = table(rows);
  if (described.empty()) return out;
  rows.clear();
  for (const Described& d : described)
    rows.push_back({d.instance.empty() ? "host" : d.instance, d.verb, d.what});
  return out + "\n" + table(rows);
}

}  // namespace davit::host
