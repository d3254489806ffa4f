#include "print_graph.hpp"

#include "text_table.hpp"

namespace davit::host {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

std::string print_graph(const std::vector<Assembly::Line>& lines,
                        const std::vector<Described>& described, size_t columns) {
  TextTable graph(
      {"INSTANCE", "MODULE", {"VERSION", 1}, {"ROLES", 4}, {"NEEDS", 2}, {"POOL", 3}, "USES"},
      TextTable::Last::wrapped);
  for (const auto& line : lines) {
    graph.row({line.instance, line.module, line.version, joined(line.roles), joined(line.needs),
               std::to_string(line.pool_threads), joined(line.uses)});
  }
  const std::string out = graph.print(false, columns);
  if (described.empty()) return out;
  TextTable rest({"", "", ""}, TextTable::Last::wrapped);
  for (const Described& d : described)
    rest.row({d.instance.empty() ? "host" : d.instance, d.verb, d.what});
  return out + "\n" + rest.print(false, columns);
}

}  // namespace davit::host
