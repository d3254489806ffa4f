#include <algorithm>
#include <set>

#include "fitted_agent.hpp"
#include "text_pieces.hpp"
#include "toml_text.hpp"

namespace davit::host {
namespace {

// A table of the file with the keys that are set. A table that is switched off is commented out.
struct Section {
  std::string name;    // "plugin.deployment", "[plugin.deployment.tolerations]"
  std::string module;  // of a plugin
  bool is_off = false;
  std::vector<std::string> lines;
};

// The text between the first quotes.
std::string quoted_in(std::string_view line) {
  const size_t begin = line.find('"'), end = line.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return std::string(line.substr(begin + 1, end - begin - 1));
}

void read_line(std::string_view line, std::vector<Section>& out) {
  const bool is_off = take_prefix(line, "#");
  if (line.starts_with('[')) {
    const size_t end = line.find(']');
    if (end == std::string_view::npos) return;
    out.push_back({std::string(line.substr(1, end - 1)), "", is_off, {}});
    return;
  }
  if (out.empty()) return;
  Section& section = out.back();
  if (section.is_off == is_off && line.starts_with("module = ")) section.module = quoted_in(line);
  if (is_off || line.empty()) return;
  const size_t comment = line.find("  #");
  if (comment != std::string_view::npos && line.find('"', comment) == std::string_view::npos)
    line = line.substr(0, comment);
  while (line.ends_with(' ')) line.remove_suffix(1);
  section.lines.emplace_back(line);
}

std::vector<Section> sections_of(std::string_view text) {
  std::vector<Section> out;
  for (const std::string_view line : split_lines(text)) read_line(line, out);
  return out;
}

std::string text_of(const Section& section) {
  std::string out = "\n[" + section.name + "]\n";
  if (section.is_off) return out + "module = " + in_toml(section.module) + "\n";
  for (const std::string& line : section.lines) out += line + "\n";
  return out;
}

void set_address(Section& client, const std::string& url, const std::string& region) {
  for (std::string& line : client.lines) {
    if (line.starts_with("url = ")) line = "url = " + in_toml(url);
    if (line.starts_with("region = ")) line = "region = " + in_toml(region);
  }
}

}  // namespace

std::string fitted_agent_toml(std::string_view shipped, const std::vector<ServerPlugin>& kinds,
                              const std::function<bool(const std::string& module)>& is_kind,
                              const std::string& url, const std::string& region) {
  std::string out = "# An agent as it is shipped, with the kinds that its server has.\n";
  std::set<std::string> modules, names;
  for (Section& section : sections_of(shipped)) {
    if (section.name.starts_with("rpc.client.")) set_address(section, url, region);
    const bool wanted = std::any_of(kinds.begin(), kinds.end(), [&](const ServerPlugin& kind) {
      return kind.module == section.module;
    });
    const bool of_kind = !section.module.empty() && is_kind(section.module);
    if (of_kind ? !wanted : section.is_off || section.lines.empty()) continue;
    modules.insert(section.module);
    names.insert(section.name);
    out += text_of(section);
  }
  for (const ServerPlugin& kind : kinds) {
    if (modules.contains(kind.module)) continue;
    Section section{"plugin." + kind.name, kind.module, true, {}};
    if (names.contains(section.name)) section.name += "_kind";
    out += text_of(section);
  }
  return out;
}

}  // namespace davit::host
