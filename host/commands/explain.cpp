// davit explain [WORD]
#include <cstdio>
#include <string>

#include "conditions.hpp"
#include "config/suggest.hpp"
#include "davit.hpp"
#include "exit_codes.hpp"
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

// Accepts a word as status shows it, also with text after it: "taken over", "unknown since
// 2026-...".
int explain(const std::vector<std::string>& words) {
  std::string typed;
  for (const std::string& word : words) typed += (typed.empty() ? "" : " ") + word;
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
  throw UsageError("status shows no \"" + typed + "\"" +
                   (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

}  // namespace

CommandPtr explain_command() {
  auto words = std::make_shared<std::vector<std::string>>();
  auto command = std::make_shared<Command>("explain", "[WORD]",
                                           "explain a condition that status shows, and what to do",
                                           [words] { return explain(*words); });
  std::string all;
  for (const Condition& c : conditions) all += (all.empty() ? "" : "|") + std::string(c.name);
  command
      ->words("WORD", *words,
              "parked, held, orphaned, unknown, taken over, unhealthy, ...; all when absent")
      ->type_name(all);
  command->examples({"davit explain parked"});
  return command;
}

}  // namespace davit::host
