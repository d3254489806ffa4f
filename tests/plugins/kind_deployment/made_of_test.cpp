// Which pods count as made of the wanted template.
#include "made_of.hpp"

#include <gtest/gtest.h>

#include "message.hpp"

namespace davit::deployment::test {
namespace {

namespace json = boost::json;

const char* const image_1 = R"([{"name":"main","image":"web:1","command":["run"],
  "resources":{"limits":{"cpu":"1"}}}])";

json::object template_of(const char* containers) {
  return {{"spec", {{"containers", json::parse(containers)}}}};
}

bool is_stale(std::string hash, std::string_view wanted, const char* containers = image_1) {
  const json::value kept = json::parse(containers);
  std::vector<Pod> pods(1);
  pods[0].hash = std::move(hash);
  pods[0].containers = kept.if_array();
  mark_stale(pods, wanted, template_of(image_1));
  return pods[0].stale;
}

TEST(MadeOf, GoesByTheHash) {
  const char* other = R"([{"name":"main","image":"mirror/web:1"}])";
  EXPECT_FALSE(is_stale("h", "h"));
  EXPECT_FALSE(is_stale("h", "h", other)) << "the cluster's admission may change what pods are";
  EXPECT_FALSE(is_stale("h~e", "h~e", other));
  EXPECT_TRUE(is_stale("g", "h"));
  EXPECT_TRUE(is_stale("", "h"));
  EXPECT_TRUE(is_stale("h", "h-e"));
  EXPECT_TRUE(is_stale("h", "h2"));
}

TEST(MadeOf, GoesByTheLooksAfterAnEditOfWhatIsKept) {
  EXPECT_FALSE(is_stale("h", "h~e"));
  EXPECT_FALSE(is_stale("h", "h~e~f"));
  EXPECT_FALSE(is_stale("h~e", "h~e~f"));
  EXPECT_FALSE(is_stale("h-d", "h-d~e"));
  EXPECT_TRUE(is_stale("h", "h-d~e"));
  EXPECT_TRUE(is_stale("h~f", "h~e"));
  EXPECT_TRUE(is_stale("", "h~e"));
  for (const char* changed :
       {R"([{"name":"main","image":"web:2","command":["run"],"resources":{"limits":{"cpu":"1"}}}])",
        R"([{"name":"main","image":"web:1","command":["go"],"resources":{"limits":{"cpu":"1"}}}])",
        R"([{"name":"main","image":"web:1","resources":{"limits":{"cpu":"1"}}}])",
        R"([{"name":"main","image":"web:1","command":["run"],"resources":{"limits":{"cpu":"2"}}}])",
        R"([{"name":"main","image":"web:1","command":["run"]}])",
        R"([{"name":"more","image":"web:1"}])", "[]", "7"}) {
    EXPECT_TRUE(is_stale("h", "h~e", changed)) << changed;
  }
}

TEST(MadeOf, LeavesOutWhatOthersHaveAdded) {
  EXPECT_FALSE(is_stale("h", "h~e", R"([{"name":"proxy","image":"proxy:1"},
    {"name":"main","image":"web:1","command":["run"],"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}])"));
}

TEST(MadeOf, TakesOverThePodsOfAnotherProgram) {
  EXPECT_FALSE(is_stale("", "~h"));
  EXPECT_FALSE(is_stale("", "~h~e"));
  EXPECT_FALSE(is_stale("~h", "~h"));
  EXPECT_FALSE(is_stale("h", "~h")) << "the mark is no part of the hash";
  EXPECT_FALSE(is_stale("~h", "h"));
  EXPECT_TRUE(is_stale("", "~h", R"([{"name":"main","image":"web:0"}])"));
  EXPECT_TRUE(is_stale("g", "~h"));
}

TEST(MadeOf, KnowsWhatOfATemplateIsNotKept) {
  const json::object rest = not_kept(template_of(
      R"([{"name":"main","image":"web:1","command":["run"],"env":[],
           "resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}}, 7])"));
  EXPECT_EQ(rest,
            template_of(R"([{"name":"main","env":[],"resources":{"requests":{"cpu":"1"}}}, 7])"));
  EXPECT_EQ(not_kept({}), json::object{});
}

}  // namespace
}  // namespace davit::deployment::test
