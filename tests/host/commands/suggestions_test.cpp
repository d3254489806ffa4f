#include "commands/suggestions.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

TEST(Suggestions, ARefusedKindIsComparedWithThoseThatTheServerNames) {
  const std::string refusal = "kind: \"deploymnt\" is not known to this server, which knows ";
  EXPECT_EQ(with_nearest_kind(refusal + "cilium_network_policy, deployment, sentinel"),
            refusal + "cilium_network_policy, deployment, sentinel; did you mean \"deployment\"?");
  EXPECT_EQ(with_nearest_kind(refusal + "deployment"),
            refusal + "deployment; did you mean \"deployment\"?");
  for (const std::string& as_it_is :
       {refusal + "sentinel", refusal, std::string(), std::string("spec.image: is missing"),
        refusal.substr(refusal.find("\" is")), refusal.substr(refusal.find("t\" is"))})
    EXPECT_EQ(with_nearest_kind(as_it_is), as_it_is);
}

TEST(Suggestions, AnIdThatDiffersInItsNumbersIsAnotherRecord) {
  EXPECT_EQ(nearest_id("d_wbe", {"d_1", "d_shop", "d_web"}), "d_web");
  EXPECT_EQ(nearest_id("d_1", {"d_2", "d_11", "d_10"}), "");
  EXPECT_EQ(nearest_id("d-17", {"d_17", "d_18"}), "d_17");
  EXPECT_EQ(nearest_id("web-1", {"web-2", "wbe-1"}), "wbe-1");
  EXPECT_EQ(nearest_id("anything", {}), "");
}

}  // namespace
}  // namespace davit::host
