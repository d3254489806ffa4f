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
#include <davit/testing/host.hpp>
#include <davit/testing/scenario.hpp>

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

inline std::string golden_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Compares, or writes the file anew.
inline void expect_golden(const std::filesystem::path& path, const boost::json::value& found) {
  const std::string recorded = golden_text(path);
  const std::string text = pretty(found);
  if (std::getenv("DAVIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(difference(recorded, text), "") << path.filename();
}

inline Config config_of(const boost::json::object& settings) {
  Config config;
  for (const auto& member : settings) {
    const std::string key(member.key());
    const auto& value = member.value();
    if (value.is_bool()) {
      config.set({key, value.get_bool()});
    } else if (value.is_int64()) {
      config.set({key, value.get_int64()});
    } else if (!value.is_array()) {
      config.set({key, std::string(value.as_string())});
    } else if (!value.get_array().empty() && value.get_array()[0].is_object()) {
      std::vector<Config> tables;
      for (const auto& table : value.get_array()) tables.push_back(config_of(table.as_object()));
      config.set({key, std::move(tables)});
    } else {
      config.set({key, boost::json::value_to<std::vector<std::string>>(value)});
    }
  }
  return config;
}

// The settings that a case has, as the kind reads them with `read`. A setting that the kind does
// not know, or refuses, fails the test.
template <class Read>
auto site_of(const boost::json::object& settings, Read read) {
  const TestHost host("kind", config_of(settings), TestHost::Time::manual);
  auto site = read(host.host());
  EXPECT_EQ(host.faults(), std::vector<std::string>{});
  return site;
}

}  // namespace davit::testing
