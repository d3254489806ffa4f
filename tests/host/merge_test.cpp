#include "config/merge.hpp"

#include <gtest/gtest.h>

#include "config/difference.hpp"
#include "config/faults.hpp"
#include "config/toml.hpp"

namespace davit::host {
namespace {

// One line per leaf: key = value (place).
std::string show(const Node& node) {
  std::string out;
  for (const auto& child : node.children) {
    if (child->type == Node::Type::table) {
      out += show(*child);
      continue;
    }
    std::string value =
        child->type == Node::Type::integer ? std::to_string(child->integer) : child->string;
    if (child->type == Node::Type::array) value = std::to_string(child->children.size()) + " items";
    out += child->key + "=" + value + " (" + child->where + ")\n";
  }
  return out;
}

std::string merged(std::initializer_list<std::string_view> texts) {
  Node root;
  Faults faults;
  int file = 0;
  for (std::string_view text : texts)
    merge(root, parse_toml(text, std::to_string(++file) + ".toml", faults));
  EXPECT_TRUE(faults.empty());
  return show(root);
}

TEST(Merge, LaterValuesWinAndSayWhereTheyAre) {
  EXPECT_EQ(merged({"[a]\nx = 1\ny = 2\n", "\n\n[a]\nx = 3\n"}),
            "a.x=3 (2.toml:4)\na.y=2 (1.toml:3)\n");
}

TEST(Merge, TablesAreMergedDeep) {
  EXPECT_EQ(merged({"[a.b.c]\nx = 1\n", "[a.b.c]\ny = 2\n[a.d]\nz = 3\n"}),
            "a.b.c.x=1 (1.toml:2)\na.b.c.y=2 (2.toml:2)\na.d.z=3 (2.toml:4)\n");
}

TEST(Merge, ATableSaysAllPlacesThatMakeIt) {
  Node root;
  Faults faults;
  merge(root, parse_toml("[a]\nx = 1\n", "1.toml", faults));
  merge(root, parse_toml("\n[a]\ny = 1\n", "2.toml", faults));
  EXPECT_EQ(root.find("a")->where, "1.toml:1, 2.toml:2");
}

TEST(Differences, TheSmallestChangeOfANumberIsOne) {
  const auto keys = [](const char* before, const char* after) {
    Faults faults;
    const auto was = parse_toml(before, "1.toml", faults);
    const auto is = parse_toml(after, "1.toml", faults);
    std::string out;
    for (const Difference& d : differences(*was, *is)) out += d.key + " (" + d.where + ")";
    return out;
  };
  EXPECT_EQ(keys("x = 0.0000001\n", "x = 0.0000002\n"), "x (1.toml:1)");
  EXPECT_EQ(keys("x = 1.0\n", "x = 1.0000000000000002\n"), "x (1.toml:1)");
  EXPECT_EQ(keys("x = [0.0000001]\n", "x = [0.0000002]\n"), "x (1.toml:1)");
  EXPECT_EQ(keys("x = 0.1\n", "x = 1e-1\n"), "");
}

TEST(Merge, ArraysReplace) {
  EXPECT_EQ(merged({"x = [1, 2, 3]\n[[t]]\na = 1\n[[t]]\na = 2\n", "x = [4]\n[[t]]\na = 3\n"}),
            "x=1 items (2.toml:1)\nt=1 items (2.toml:2)\n");
}

TEST(Merge, ATableAndAValueReplaceEachOther) {
  EXPECT_EQ(merged({"[a]\nx = 1\n", "a = 5\n"}), "a=5 (2.toml:1)\n");
  EXPECT_EQ(merged({"a = 5\n", "[a]\nx = 1\n"}), "a.x=1 (2.toml:2)\n");
}

TEST(Merge, NewEntriesComeLastAndOldOnesKeepTheirPlace) {
  EXPECT_EQ(merged({"[p.b]\nm = 1\n[p.a]\nm = 2\n", "[p.c]\nm = 3\n[p.a]\nm = 4\n"}),
            "p.b.m=1 (1.toml:2)\np.a.m=4 (2.toml:4)\np.c.m=3 (2.toml:2)\n");
}

TEST(Merge, ThreeFilesAreMergedInOrder) {
  EXPECT_EQ(merged({"x = 1\n", "x = 2\n", "y = 0\n"}), "x=2 (2.toml:1)\ny=0 (3.toml:1)\n");
}

}  // namespace
}  // namespace davit::host
