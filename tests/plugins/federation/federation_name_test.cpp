// Federation as it is loaded, when the two clusters are not what they should be: one cluster twice,
// and two robots of one name.
#include "looker.hpp"

namespace davit::federation::test {
namespace {

const cluster::Resource leases{"coordination.k8s.io", "v1", "leases"};

std::string holder(World& w) {
  const auto r =
      w.cloud.send({DAVIT_VERB_GET, leases, "default", "davit-federation-r1", "", {}, {}, ""});
  if (r.code != Code::ok) return "";
  return std::string(json::parse(r.body).at_pointer("/spec/holderIdentity").as_string());
}
void claim_as(World& w, const std::string& who) {
  const auto r = w.cloud.send({DAVIT_VERB_MERGE,
                               leases,
                               "default",
                               "davit-federation-r1",
                               "",
                               {},
                               {},
                               R"({"spec":{"holderIdentity":")" + who + "\"}}"});
  ASSERT_EQ(r.code, Code::ok) << r.message;
}
size_t lease_writes(World& w) {
  return w.cloud.front->sent["create leases"] + w.cloud.front->sent["update leases"];
}

TEST(FederationName, OneClusterTwiceIsAFaultAndNothingIsWritten) {
  World w;
  w.stop();
  w.robot.front->same_as = w.cloud.client;
  w.cloud.make("a", 1);
  w.robot.make("orphan", 1);
  Looker look(w);
  w.wait(1h);
  EXPECT_TRUE(w.robot.get("a").is_null());
  EXPECT_EQ(w.robot.spec("orphan"), "1");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_NE(w.host().health_reason().find("are the same cluster"), std::string::npos);
  EXPECT_EQ(look.status(), "0");
  EXPECT_NE(look.answer.health().find("are the same cluster"), std::string::npos);
}

TEST(FederationName, AClusterThatDoesNotSayWhichItIsIsWaitedForUnlessItRefuses) {
  World w;
  w.stop();
  w.cloud.make("a", 1);
  cluster::Response away;
  away.code = Code::unavailable;
  away.message = "connection refused";
  w.robot.front->hides_identity = away;
  w.start();
  w.wait(1h);
  EXPECT_TRUE(w.robot.get("a").is_null()) << "it may be the cloud";
  EXPECT_NE(w.host().health_reason().find("connection refused"), std::string::npos)
      << w.host().health_reason();
  w.robot.front->hides_identity = refusal(403, "Forbidden", "no");
  w.wait(1min);
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_TRUE(w.host().logged("does not say which it is"));
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationName, ARobotClaimsItsNameOnceAndRests) {
  World w;
  Looker look(w);
  w.wait();
  EXPECT_EQ(look.status(), "0");
  EXPECT_EQ(holder(w), look.answer.downstream().cluster());
  const size_t writes = lease_writes(w);
  w.wait(24h);
  w.stop();
  w.start();
  w.wait(1h);
  EXPECT_EQ(lease_writes(w), writes);
}

TEST(FederationName, AnotherRobotOfThisNameIsFoundAndSaid) {
  World w;
  Looker look(w);
  w.wait();
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
  claim_as(w, "another-cluster");
  w.wait();
  EXPECT_NE(w.host().health_reason().find("another-cluster"), std::string::npos)
      << w.host().health_reason();
  EXPECT_EQ(look.status(), "0");
  ASSERT_EQ(look.answer.faults_size(), 1);
  EXPECT_EQ(look.answer.faults(0).of(), "robot_name");
  EXPECT_EQ(holder(w), look.answer.downstream().cluster()) << "it has claimed its name back";
  EXPECT_EQ(w.host().metric("davit_federation_name_contested"), 1);
  w.wait(1h);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << "the other has gone";
}

TEST(FederationName, ARobotThatIsInstalledAnewTakesItsNameOver) {
  World w;
  w.wait();
  w.stop();
  claim_as(w, "the-former-cluster");
  w.start();
  w.wait(1h);
  EXPECT_NE(holder(w), "the-former-cluster");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationName, ARightThatIsMissingIsSaidOnce) {
  World w;
  w.stop();
  w.cloud.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource != "leases" || q.verb == DAVIT_VERB_GET) return std::nullopt;
    return refusal(403, "Forbidden", "leases are not for you");
  };
  ASSERT_EQ(
      w.cloud.send({DAVIT_VERB_DELETE, leases, "default", "davit-federation-r1", "", {}, {}, ""})
          .code,
      Code::ok);
  w.start();
  const size_t writes = lease_writes(w);
  w.wait(24h);
  EXPECT_LE(lease_writes(w), writes + 3);
  size_t lines = 0;
  for (const auto& line : w.host().log())
    lines += line.text().find("leases are not for you") != line.text().npos;
  EXPECT_EQ(lines, 1u);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();

  World blind;
  blind.stop();
  blind.cloud.front->stop_showing("leases", DAVIT_WATCH_REFUSED, "leases are not for you");
  blind.start();
  blind.wait(1h);
  EXPECT_TRUE(blind.host().logged("leases are not for you"));
  EXPECT_EQ(blind.host().health(), DAVIT_HEALTH_SERVING) << blind.host().health_reason();
}

TEST(FederationName, WithoutANamespaceNothingIsClaimed) {
  World w(of_cloud, true, {{"claim_namespace", ""}});
  w.wait();
  EXPECT_EQ(holder(w), "");
  EXPECT_EQ(lease_writes(w), 0u);
}

}  // namespace
}  // namespace davit::federation::test
