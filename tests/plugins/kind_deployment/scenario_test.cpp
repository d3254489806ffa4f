// Every file in scenarios/ is one story: commands, "----", what they print, an empty line, and so
// on. Lines that begin with "#" tell why. DAVIT_UPDATE_GOLDEN=1 writes what is printed into the
// files.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::deployment::test {
namespace {

std::vector<std::filesystem::path> stories() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_FOLDER "/scenarios"))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

// The story retold: the file with the expected output replaced by what the world really prints.
std::string retell(std::istream& story) {
  World world;
  std::string out, printed, line;
  bool expecting = false;
  while (std::getline(story, line)) {
    if (line == "----") {
      expecting = true;
      out += "----\n" + printed;
      printed.clear();
    } else if (line.empty()) {
      expecting = false;
      out += "\n";
    } else if (!expecting) {
      out += line + "\n";
      if (line.front() != '#') printed += world.run(line);
    }
  }
  return out;
}

class Scenario : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenario, GoesAsTold) {
  std::ifstream file(GetParam());
  std::stringstream told;
  told << file.rdbuf();
  std::istringstream story(told.str());
  const std::string found = retell(story);
  if (std::getenv("DAVIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GetParam()) << found;
    return;
  }
  EXPECT_EQ(told.str(), found) << GetParam().filename();
}

std::string name_of(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}
INSTANTIATE_TEST_SUITE_P(Files, Scenario, ::testing::ValuesIn(stories()), name_of);

}  // namespace
}  // namespace davit::deployment::test
