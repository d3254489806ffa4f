// What `davit federation check` says: the loaded plugin decides about everything and writes
// nothing.
#include "looker.hpp"

namespace davit::federation::test {
namespace {

v1::FederationReview review(World& w) {
  w.stop();
  w.start(true);
  v1::FederationReview out;
  EXPECT_TRUE(out.ParseFromString(w.review()));
  return out;
}
// "create 2 default/a default/b" a line.
std::string changes(const v1::FederationReview& review) {
  std::string out;
  for (const auto& c : review.changes()) {
    out += c.write() + " " + std::to_string(c.objects());
    for (const auto& name : c.names()) out += " " + name;
    out += "\n";
  }
  return out;
}
// "fault upstream "cloud": ..." a line.
std::string findings(const v1::FederationReview& review) {
  std::string out;
  for (const auto& f : review.findings())
    out += f.severity() + " " + f.of() + ": " + f.text() + "\n";
  return out;
}

TEST(FederationCheck, NamesCreatesUpdatesAndDeletes) {
  World w;
  w.cloud.make("both", 1);
  w.wait();
  w.stop();
  w.cloud.make("new", 1);
  w.cloud.set("both", 2);
  w.robot.make("orphan", 1);
  w.start(true);
  const size_t writes = w.cloud.writes() + w.robot.writes();
  const auto found = review(w);
  EXPECT_EQ(changes(found),
            "create 1 default/new\ndelete 1 default/orphan\nupdate 1 default/both\n");
  EXPECT_EQ(findings(found), "");
  w.wait(1h);
  EXPECT_EQ(w.cloud.writes() + w.robot.writes(), writes);
}

TEST(FederationCheck, NamesWhatWouldBeHeld) {
  World w;
  w.stop();
  for (int i = 0; i < 30; ++i) w.robot.make("a" + std::to_string(i), i);
  const auto found = review(w);
  ASSERT_EQ(found.changes_size(), 1);
  EXPECT_EQ(found.changes(0).write(), "delete (held)");
  EXPECT_EQ(found.changes(0).objects(), 30u);
  EXPECT_EQ(found.changes(0).names_size(), 20);
}

TEST(FederationCheck, FindsANameThatIsTakenBehindTheSelector) {
  World w(filtered);
  w.stop();
  w.cloud.make("a", 1, for_r1);
  w.cloud.make("b", 1, for_r1);
  w.robot.make("a", 9);
  EXPECT_EQ(changes(review(w)),
            "create 1 default/b\nstuck: its name is taken downstream by an object that was not "
            "made here 1 default/a\n");
}

TEST(FederationCheck, AsksForTheRightsOfBothAccounts) {
  World w;
  w.cloud.front->denied = {"watch robots"};
  w.robot.front->denied = {"delete robots", "list customresourcedefinitions"};
  EXPECT_EQ(findings(review(w)),
            "fault downstream \"robot\": the account may not list "
            "customresourcedefinitions.apiextensions.k8s.io\n"
            "fault upstream \"cloud\": the account may not watch robots.g\n"
            "fault downstream \"robot\": the account may not delete robots.g\n");
}

TEST(FederationCheck, TheSameClusterTwiceIsAFault) {
  World w;
  w.stop();
  w.robot.front->same_as = w.cloud.client;
  EXPECT_NE(findings(review(w)).find("are the same cluster"), std::string::npos);
}

TEST(FederationCheck, AResourceThatOneSideLacksAndANamespace) {
  World w;
  w.stop();
  w.cloud.front->stop_showing("robots", DAVIT_WATCH_REFUSED, "no such resource");
  const std::string found = findings(review(w));
  EXPECT_NE(found.find("fault robots.g: upstream \"cloud\": its watch is refused"),
            std::string::npos)
      << found;
}

TEST(FederationCheck, ANamespaceThatIsMissingDownstream) {
  World w;
  w.stop();
  ASSERT_EQ(w.cloud
                .send({DAVIT_VERB_CREATE,
                       {"", "v1", "namespaces"},
                       "",
                       "",
                       "",
                       {},
                       {},
                       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"site"}})"})
                .code,
            Code::ok);
  ASSERT_EQ(w.cloud
                .send({DAVIT_VERB_CREATE,
                       {"g", "v1", "robots"},
                       "site",
                       "",
                       "",
                       {},
                       {},
                       R"({"apiVersion":"g/v1","kind":"Robot","metadata":{"name":"a"}})"})
                .code,
            Code::ok);
  const auto found = review(w);
  EXPECT_EQ(findings(found),
            "warning downstream \"robot\": has no namespace \"site\": its objects cannot be "
            "created\n");
}

TEST(FederationCheck, ANameThatAnotherClusterHasClaimed) {
  World w;
  w.wait();
  EXPECT_EQ(findings(review(w)), "") << "its own";
  const auto r = w.cloud.send({DAVIT_VERB_MERGE,
                               {"coordination.k8s.io", "v1", "leases"},
                               "default",
                               "davit-federation-r1",
                               "",
                               {},
                               {},
                               R"({"spec":{"holderIdentity":"another"}})"});
  ASSERT_EQ(r.code, Code::ok) << r.message;
  EXPECT_EQ(findings(review(w)),
            "warning robot_name: \"r1\" is claimed by another cluster (another): if it still runs, "
            "give one of them another name\n");
}

TEST(FederationCheck, NothingTakesPart) {
  World w("");
  EXPECT_NE(findings(review(w)).find("warning : nothing takes part"), std::string::npos);
}

}  // namespace
}  // namespace davit::federation::test
