// How definitions of both sides differ: what `davit federation check` says of it.
#include <gtest/gtest.h>

#include "pair.hpp"
#include "review.hpp"

namespace davit::federation::test {
namespace {

json::object definition(const std::string& versions, const std::string& scope = "Namespaced") {
  return parsed(R"({"spec":{"scope":")" + scope + R"(","versions":[)" + versions + "]}}");
}
std::string version(const std::string& name, bool storage = true, bool status = true,
                    bool served = true) {
  return R"({"name":")" + name + R"(","served":)" + (served ? "true" : "false") + R"(,"storage":)" +
         (storage ? "true" : "false") + (status ? R"(,"subresources":{"status":{}})" : "") + "}";
}
std::string found(const json::object* up, const json::object* down, Rules rules = {}) {
  rules.resource.version = "v1";
  std::string out;
  for (const Finding& f : compare_definitions(rules, up, down)) out += f.text + "\n";
  return out;
}
std::string found(const json::object& up, const json::object& down, const Rules& rules = {}) {
  return found(&up, &down, rules);
}

TEST(DefinitionPair, EqualOnesAreNoFinding) {
  EXPECT_EQ(found(definition(version("v1")), definition(version("v1"))), "");
}
TEST(DefinitionPair, OneThatIsMissing) {
  const auto there = definition(version("v1"));
  EXPECT_EQ(found(nullptr, &there), "the definition is missing upstream\n");
  EXPECT_EQ(found(&there, nullptr), "the definition is missing downstream\n");
}
TEST(DefinitionPair, AVersionThatIsNotServed) {
  EXPECT_EQ(found(definition(version("v2")), definition(version("v1"))),
            "version v1, which travels, is not served upstream\n");
  EXPECT_EQ(found(definition(version("v1")), definition(version("v1", true, true, false))),
            "version v1, which travels, is not served downstream\n");
}
TEST(DefinitionPair, ScopesThatDiffer) {
  EXPECT_EQ(found(definition(version("v1"), "Cluster"), definition(version("v1"))),
            "its scope is Cluster upstream and Namespaced downstream\n");
}
TEST(DefinitionPair, StorageVersionsThatDifferAreToldOnly) {
  EXPECT_EQ(found(definition(version("v1") + "," + version("v2", false)),
                  definition(version("v1", false) + "," + version("v2"))),
            "the storage version is v1 upstream and v2 downstream: v1 travels\n");
}
TEST(DefinitionPair, AStatusSubresourceOnOneSide) {
  Rules rules;
  EXPECT_EQ(found(definition(version("v1", true, false)), definition(version("v1")), rules),
            "there is no status subresource upstream, so no status can go up\n");
  rules.status = StatusWrite::whole;
  EXPECT_EQ(found(definition(version("v1")), definition(version("v1", true, false)), rules),
            "there is a status subresource upstream alone, so no status can go up\n");
  rules.status = StatusWrite::none;
  EXPECT_EQ(found(definition(version("v1")), definition(version("v1", true, false)), rules), "");
}
TEST(DefinitionPair, NoVersionsAtAll) {
  EXPECT_NE(found(parsed("{}"), parsed("{}")), "");
}

TEST(Guard, HoldsManyOfManyOnly) {
  const GuardLimits limits;
  EXPECT_FALSE(holds(limits, 10, 10)) << "a few";
  EXPECT_TRUE(holds(limits, 11, 11));
  EXPECT_TRUE(holds(limits, 11, 21));
  EXPECT_FALSE(holds(limits, 11, 22)) << "not more than half";
  EXPECT_FALSE(holds({0, 100}, 1000, 1000)) << "never";
  EXPECT_TRUE(holds({0, 0}, 1, 1000)) << "always";
}

}  // namespace
}  // namespace davit::federation::test
