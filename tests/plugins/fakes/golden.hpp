// Golden files of kinds: a folder of cases, each a JSON file that holds what goes in and what came
// out of it. DAVIT_UPDATE_GOLDEN=1 writes the files anew; look at the difference before it is
// committed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::testing {

// JSON as people read it: two blanks a level, members in their own order.
inline void pretty(const boost::json::value& v, const std::string& indent, std::string& out) {
  const std::string inner = indent + "  ";
  if (const auto* object = v.if_object(); object != nullptr && !object->empty()) {
    const char* before = "{\n";
    for (const auto& member : *object) {
      out += before + inner + boost::json::serialize(member.key()) + ": ";
      pretty(member.value(), inner, out);
      before = ",\n";
    }
    out += "\n" + indent + "}";
  } else if (const auto* array = v.if_array(); array != nullptr && !array->empty()) {
    const char* before = "[\n";
    for (const auto& item : *array) {
      out += before + inner;
      pretty(item, inner, out);
      before = ",\n";
    }
    out += "\n" + indent + "]";
  } else {
    out += boost::json::serialize(v);
  }
}

inline std::string pretty(const boost::json::value& v) {
  std::string out;
  pretty(v, "", out);
  return out + "\n";
}

inline std::vector<std::filesystem::path> golden_files(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

inline std::string golden_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

inline std::string golden_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first lines that differ, with what stands around them.
inline std::string golden_difference(const std::string& wanted, const std::string& found) {
  std::istringstream a(wanted), b(found);
  std::string left, right, out;
  for (int line = 1; out.size() < 2000; ++line) {
    const bool more_left = static_cast<bool>(std::getline(a, left));
    const bool more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) break;
    if (!more_left) left = "(end)";
    if (!more_right) right = "(end)";
    if (left != right)
      out += "line " + std::to_string(line) + "\n- " + left + "\n+ " + right + "\n";
  }
  return out;
}

// Compares, or writes the file anew.
inline void expect_golden(const std::filesystem::path& path, const boost::json::value& found) {
  const std::string recorded = golden_text(path);
  const std::string text = pretty(found);
  if (std::getenv("DAVIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_TRUE(recorded == text) << path.filename() << "\n" << golden_difference(recorded, text);
}

}  // namespace davit::testing
