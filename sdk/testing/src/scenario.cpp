#include <davit/testing/scenario.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "file.hpp"

namespace davit::testing {

std::vector<std::filesystem::path> stories(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path());
  if (out.empty()) throw std::runtime_error("no story in " + folder.string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string retell(std::string_view story, const Command& run) {
  std::istringstream in{std::string(story)};
  std::string out, printed, line;
  bool expecting = false;
  while (std::getline(in, line)) {
    if (line == "----") {
      expecting = true;
      out += "----\n" + printed;
      printed.clear();
    } else if (line.empty()) {
      expecting = false;
      out += "\n";
    } else if (!expecting) {
      out += line + "\n";
      if (line.front() != '#') printed += run(line);
    }
  }
  return printed.empty() ? out : out + "----\n" + printed;
}

std::string play(const std::filesystem::path& file, const Command& run) {
  const auto told = read_file(file.string());
  if (!told.ok()) return told.error().message;
  std::string last;
  try {
    const std::string found = retell(*told, [&](const std::string& line) {
      last = line;
      return run(line);
    });
    if (last.empty()) return "the story has no command";
    if (std::getenv("DAVIT_UPDATE_GOLDEN") == nullptr) return difference(*told, found);
    std::ofstream(file) << found;
    return {};
  } catch (const std::exception& e) {
    return last + ": " + e.what();
  }
}

std::string difference(std::string_view wanted, std::string_view found) {
  if (wanted == found) return {};
  constexpr size_t enough = 2000;
  std::istringstream a{std::string(wanted)}, b{std::string(found)};
  std::string left, right, out;
  for (int number = 1; out.size() < enough; ++number) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) break;
    if (!more_left) left = "(end)";
    if (!more_right) right = "(end)";
    if (left != right)
      out += "line " + std::to_string(number) + "\n- " + left + "\n+ " + right + "\n";
  }
  return out.empty() ? "the last line has no end" : out;
}

}  // namespace davit::testing
