// davit explain [CONDITION]
#include <cstdio>
#include <string>

#include "conditions.hpp"
#include "config/suggest.hpp"
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
  const std::vector<std::string> words = arguments.rest();
  if (words.size() > 1) return usage_error("explain", "unexpected \"" + words[1] + "\"");
  std::vector<std::string> names;
  const char* separator = "";
  for (const Condition& c : conditions()) {
    names.emplace_back(c.name);
    if (!words.empty() && words[0] != c.name) continue;
    std::fputs(separator, stdout);
    separator = "\n";
    explain(c);
    if (!words.empty()) return 0;
  }
  if (words.empty()) return 0;
  const std::string near = nearest(words[0], names);
  return usage_error("explain", "no condition \"" + words[0] + "\"" +
                                    (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
}

}  // namespace davit::host
