// davit explain [WORD]
#include <cstdio>
#include <string>

#include "conditions.hpp"
#include "config/suggest.hpp"
#include "exit_codes.hpp"
#include "table.hpp"

namespace davit::host {

namespace {

// At spaces, so that no line is longer than a terminal's.
std::string wrapped(std::string_view text, const std::string& indent) {
  constexpr size_t width = 78;
  std::string out, line = indent;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (line.size() > indent.size() && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    at = end + 1;
  }
  return out + line + "\n";
}

void explain(const Condition& c) {
  std::printf("%s\n%s  What to do:\n%s", std::string(c.name).c_str(),
              wrapped(c.means, "  ").c_str(), wrapped(c.to_do, "    ").c_str());
}

}  // namespace

int run_explain(Arguments arguments) {
  if (auto bad = arguments.unknown()) return usage_error("explain", *bad);
  // As status shows it, what follows a word included: "taken over", "unknown since 2026-...".
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
