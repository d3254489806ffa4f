#include "commands/kind_columns.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

constexpr int64_t now = 1'700'000'000'000;  // 2023-11-14T22:13:20Z

v1::PrinterColumn column(const std::string& path, const std::string& type, uint32_t priority = 0) {
  v1::PrinterColumn out;
  out.set_name("C");
  out.set_path(path);
  out.set_type(type);
  out.set_priority(priority);
  return out;
}

std::string cell(const std::string& json, const std::string& path,
                 const std::string& type = "string") {
  KindColumns::Columns columns;
  *columns.Add() = column(path, type);
  const auto cells = KindColumns(columns).cells(json, now);
  return cells.size() == 1 ? cells[0].text : "not one cell";
}

TEST(KindColumns, ShowWhatIsAtThePath) {
  const std::string json =
      R"({"a":{"b~":"text","c/d":7},"yes":true,"list":["x",1,false],"deep":[{"k":1}],"empty":[],
          "none":null,"blank":"","ratio":0.5})";
  EXPECT_EQ(cell(json, "/a/b~0"), "text");
  EXPECT_EQ(cell(json, "/a/c~1d", "integer"), "7");
  EXPECT_EQ(cell(json, "/yes", "boolean"), "true");
  EXPECT_EQ(cell(json, "/ratio", "number"), "0.5");
  EXPECT_EQ(cell(json, "/list"), "x,1,false");
  EXPECT_EQ(cell(json, "/list/1", "integer"), "1");
  EXPECT_EQ(cell(json, "/deep"), R"([{"k":1}])");
  EXPECT_EQ(cell(json, "/a", "a word of tomorrow"), R"({"b~":"text","c/d":7})");
}

TEST(KindColumns, ShowADashForWhatIsNotThere) {
  for (const char* path : {"/nowhere", "/none", "/blank", "/empty", "/list/9", "no pointer"})
    EXPECT_EQ(cell(R"({"none":null,"blank":"","empty":[],"list":[1]})", path), "-") << path;
  EXPECT_EQ(cell("", "/a"), "-");
  EXPECT_EQ(cell("{broken", "/a"), "-");
}

TEST(KindColumns, ShowADateByItsAge) {
  const auto age_of = [](const std::string& value) {
    return cell("{\"t\":" + value + "}", "/t", "date");
  };
  EXPECT_EQ(age_of("\"2023-11-14T22:12:50Z\""), "30s");
  EXPECT_EQ(age_of("\"2023-11-14t22:12:50.125z\""), "30s");
  EXPECT_EQ(age_of("\"2023-11-15T00:12:50+02:00\""), "30s");
  EXPECT_EQ(age_of("\"2023-11-14T20:42:50-01:30\""), "30s");
  EXPECT_EQ(age_of("1699999970000"), "30s");
  EXPECT_EQ(age_of("\"1699999970000\""), "30s") << "as the codec shows 64-bit integers";
  for (const char* other : {"yesterday", "2023-11-14", "2023-11-14T22:12:50",
                            "2023-11-14T22:12:50 ", "99999999999999999999"})
    EXPECT_EQ(age_of("\"" + std::string(other) + "\""), other);
}

TEST(KindColumns, WithAPriorityLeaveBeforeTheColumnsOfEveryKind) {
  KindColumns::Columns columns;
  for (const uint32_t priority : {0u, 1u, 2u, UINT32_MAX})
    *columns.Add() = column("/a", "string", priority);
  std::vector<int> order;
  for (const auto& heading : KindColumns(columns).headings()) order.push_back(heading.spare);
  EXPECT_EQ(order[0], 0) << "never";
  EXPECT_GT(order[3], 0);
  EXPECT_LT(order[3], order[2]);
  EXPECT_LT(order[2], order[1]);
  EXPECT_LT(order[1], KindColumns::after_kinds + 1);
}

}  // namespace
}  // namespace davit::host
