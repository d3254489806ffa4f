#include "world.hpp"

namespace davit::clusters::test {
namespace {

std::string faults(testing::Config config) {
  if (config.string("cluster").empty()) config.set({"cluster", "management"});
  testing::TestHost host("clusters", config);
  auto loaded = testing::Loaded::open(CLUSTER_CONTROLLER);
  EXPECT_TRUE(loaded.ok());
  testing::Instance instance(loaded->plugin(), host);
  const auto created = instance.create();
  return created.ok() ? "" : created.error().message;
}
testing::Config with(std::vector<testing::Config> providers) {
  return {{"provider", std::move(providers)}};
}

TEST(Settings, SayWhatIsWrong) {
  EXPECT_EQ(faults(with({table("aws")})), "");
  EXPECT_EQ(faults(with({table("aws", {"x"}), table("gcp")})), "");
  EXPECT_NE(faults({}).find("must name an actuator"), std::string::npos) << faults({});
  EXPECT_NE(
      faults(with({table("aws"), table("gcp")})).find("another provider has all other groups"),
      std::string::npos);
  EXPECT_NE(faults(with({table("aws", {"x"}), table("gcp", {"x"})})).find("is another provider's"),
            std::string::npos);
  EXPECT_NE(faults(with({table("aws", {"x"}), table("aws", {"y"})})).find("is named twice"),
            std::string::npos);
  EXPECT_EQ(faults({{"actuator", "aws"}}), "");
  auto beside = with({table("gcp", {"x"})});
  beside.set({"actuator", "aws"});
  EXPECT_EQ(faults(beside), "");
  auto both = with({table("gcp")});
  both.set({"actuator", "aws"});
  EXPECT_NE(faults(both).find("another provider has all other groups"), std::string::npos);
  auto twice = with({table("aws")});
  twice.set({"addons", {"aws"}});
  EXPECT_NE(faults(twice).find("is named twice"), std::string::npos);
  auto backwards = with({table("aws")});
  backwards.set({"retry_first_ms", 50});
  backwards.set({"retry_most_ms", 10});
  EXPECT_NE(faults(backwards).find("must not be below retry_first_ms"), std::string::npos);
}

TEST(Settings, AnActuatorThatIsNotThereIsAFaultOfTheStart) {
  testing::TestHost host("clusters", [] {
    auto c = with({table("nobody")});
    c.set({"cluster", "management"});
    return c;
  }());
  testing::SimulatedCluster api(host, "management", {"cluster.k8s.io", "v1alpha1", "clusters"});
  auto loaded = testing::Loaded::open(CLUSTER_CONTROLLER);
  ASSERT_TRUE(loaded.ok());
  testing::Instance instance(loaded->plugin(), host);
  ASSERT_TRUE(instance.create().ok());
  const auto wired = instance.wire();
  ASSERT_FALSE(wired.ok());
  EXPECT_NE(wired.error().message.find("nobody"), std::string::npos);
  EXPECT_TRUE(api.instance->stop().ok());
}

TEST(Settings, OneNamespaceIsWatchedAndNoOther) {
  World w({{"namespace", "elsewhere"}});
  w.make("a");
  EXPECT_EQ(w.called(), "");
}

}  // namespace
}  // namespace davit::clusters::test
