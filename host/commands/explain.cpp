// davit explain [WORD]
#include <cstdio>
#include <string>

#include "conditions.hpp"
#include "config/suggest.hpp"
#include "exit_codes.hpp"
#include "table.hpp"
#include "text_table.hpp"

namespace davit::host {

namespace {

void print_indented(std::string_view text, const std::string& indent) {
  constexpr size_t line_columns = 78;
  for (const std::string& line : wrapped(std::string(text), line_columns - indent.size()))
    std::printf("%s%s\n", indent.c_str(), line.c_str());
}

void explain(const Condition& c) {
  std::printf("%s\n", std::string(c.name).c_str());
  print_indented(c.means, "  ");
  std::puts("  What to do:");
  print_indented(c.to_do, "    ");
}

}  // namespace

int run_explain(Arguments arguments) {
  if (auto bad = arguments.unknown()) return usage_error("explain", *bad);
  // Accepts a word as status shows it, also with text after it: "taken over", "unknown since
  // 2026-...".
  std::string typed;
  for (const std::string& word : arguments.rest()) typed += (typed.empty() ? "" : " ") + word;
  std::vector<std::string> names;
  const char* separator = "";
  for (const Condition& c : conditions) {
    const std::string name(c.name);
    names.push_back(name);
    if (!typed.empty() && typed != name && !typed.starts_with(name + " ")) continue;
    std::fputs(separator, stdout);
    separator = "\n";
    explain(c);
    if (!typed.empty()) return exit_code_done;
  }
  if (typed.empty()) return exit_code_done;
  const std::string near = nearest(typed, names);
  return usage_error("explain", "status shows no \"" + typed + "\"" +
                                    (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

}  // namespace davit::host
