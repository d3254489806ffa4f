// What the annotations of a CustomResourceDefinition say: section 3 of the behaviour of cr-syncer.
#include "definition.hpp"

#include "pair.hpp"

namespace davit::federation::test {
namespace {

Definition read(const std::string& annotations, const std::string& robot = "r1",
                const std::string& scope = "Namespaced",
                const std::string& versions =
                    R"([{"name":"v1alpha1","storage":false},{"name":"v1","storage":true,)"
                    R"("subresources":{"status":{}}}])") {
  return read_definition(
      {robot, true, true},
      parsed(R"({"metadata":{"name":"robots.g","annotations":{)" + annotations +
             R"(}},"spec":{"group":"g","scope":")" + scope +
             R"(","names":{"plural":"robots","kind":"Robot"},"versions":)" + versions + "}}"));
}
std::string source(const std::string& value, const std::string& more = "") {
  return R"("cr-syncer.cloudrobotics.com/spec-source":")" + value + "\"" +
         (more.empty() ? "" : "," + more);
}
std::string filter(const std::string& value) {
  return R"("cr-syncer.cloudrobotics.com/filter-by-robot-name":")" + value + "\"";
}

TEST(Definition, TakesPartWhenItSaysWhereItsSpecComesFrom) {
  const Definition d = read(source("cloud"));
  ASSERT_TRUE(d.rules) << d.fault;
  EXPECT_EQ(d.rules->resource, (cluster::Resource{"g", "v1", "robots"})) << "the storage version";
  EXPECT_FALSE(d.rules->swapped);
  EXPECT_EQ(d.rules->selector, "");
  EXPECT_EQ(d.rules->status, StatusWrite::subresource);
  EXPECT_TRUE(d.rules->namespaced);
}

TEST(Definition, OfTheRobotSwapsTheRoles) {
  EXPECT_TRUE(read(source("robot")).rules->swapped);
}

TEST(Definition, WithoutTheAnnotationIsIgnored) {
  for (const auto& annotations : {std::string(), source("")}) {
    const Definition d = read(annotations);
    EXPECT_FALSE(d.rules);
    EXPECT_EQ(d.fault, "");
  }
}

TEST(Definition, OfAnotherSourceIsAFault) {
  for (const char* value : {"Cloud", "cloud ", "both"}) {
    const Definition d = read(source(value));
    EXPECT_FALSE(d.rules);
    EXPECT_NE(d.fault, "") << value;
  }
}

TEST(Definition, FilterIsABooleanAsGoReadsIt) {
  for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    EXPECT_EQ(read(source("cloud", filter(yes))).rules->selector,
              "cloudrobotics.com/robot-name=r1");
  }
  for (const char* no : {"0", "f", "F", "FALSE", "false", "False", ""})
    EXPECT_EQ(read(source("cloud", filter(no))).rules->selector, "");
}

TEST(Definition, FilterThatIsNoBooleanIsAFaultAndNothingIsDeletedForIt) {
  for (const char* bad : {"yes", "tRUE", " true"}) {
    const Definition d = read(source("cloud", filter(bad)));
    EXPECT_FALSE(d.rules) << bad;
    EXPECT_NE(d.fault.find(bad), std::string::npos);
  }
}

TEST(Definition, FilterNeedsARobotName) {
  const Definition d = read(source("cloud", filter("true")), "");
  EXPECT_FALSE(d.rules);
  EXPECT_NE(d.fault.find("robot_name"), std::string::npos);
}

TEST(Definition, SubtreeIsAnyKey) {
  const Definition d =
      read(source("cloud", R"("cr-syncer.cloudrobotics.com/status-subtree":"a.b")"));
  EXPECT_EQ(d.rules->subtree, "a.b") << "no path";
}

TEST(Definition, ScopeAndStatusSubresourceAreRead) {
  EXPECT_FALSE(read(source("cloud"), "r1", "Cluster").rules->namespaced);
  const Definition d =
      read(source("cloud"), "r1", "Namespaced", R"([{"name":"v1","storage":true}])");
  EXPECT_EQ(d.rules->status, StatusWrite::whole);
}

TEST(Definition, WithoutStorageVersionIsAFault) {
  const Definition d =
      read(source("cloud"), "r1", "Namespaced", R"([{"name":"v1","storage":false}])");
  EXPECT_FALSE(d.rules);
  EXPECT_NE(d.fault.find("storage version"), std::string::npos);
}

TEST(Definition, B13ASchemaThatChangesChangesNoRule) {
  const auto a = read(source("cloud"), "r1", "Namespaced",
                      R"([{"name":"v1","storage":true,"schema":{"a":1}}])");
  const auto b = read(source("cloud", R"("note":"1")"), "r1", "Namespaced",
                      R"([{"name":"v1","storage":true,"schema":{"b":1}}])");
  EXPECT_EQ(a.rules, b.rules);
}

}  // namespace
}  // namespace davit::federation::test
