#include <gtest/gtest.h>

#include <davit/v1/agent.pb.h>

#include "envelope.hpp"

#include "admission.hpp"

namespace davit::recorder {
namespace {

v1::Status wire() {
  v1::Status s;
  s.set_kind("deployment");
  s.set_id("d_1");
  s.set_region("eu");
  s.set_observed_version(12);
  s.set_health("healthy");
  s.set_desired(2);
  s.set_ready(1);
  s.set_stale(3);
  s.set_epoch(4);
  s.set_sequence(5);
  auto* c = s.add_children();
  c->set_name("pod-1");
  c->set_status("running");
  c->set_memory_mib(64);
  return s;
}

TEST(Envelope, NamesAreWhatATableAndALogLineCanShow) {
  EXPECT_TRUE(check_name("agent", "aws/eu-1").ok());
  EXPECT_TRUE(check_name("agent", std::string(253, 'a')).ok());
  EXPECT_EQ(check_name("agent", "").error().message, "is empty");
  EXPECT_EQ(check_name("agent", std::string(254, 'a')).error().message, "is longer than 253 bytes");
  for (const std::string name : {"a b", "a\n", "\x1b[2J", "caf\xc3\xa9", "\x7f"})
    EXPECT_EQ(check_name("agent", name).error().message, "must be printable ASCII without spaces");
}

TEST(Envelope, KeepsEveryField) {
  v1::Status in = wire();
  in.set_message("m");
  in.set_parked("p");
  in.set_detail("{}");
  in.set_gone(true);
  in.set_observed_incarnation(41);
  in.set_reported_at_unix_ms(99);
  auto out = from_wire(in, "eu", 1000);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->key, (Key{"deployment", "eu", "d_1"}));
  EXPECT_EQ(out->observed_version, Version(12));
  EXPECT_EQ(out->observed_incarnation, Incarnation(41));
  EXPECT_EQ(out->health, "healthy");
  EXPECT_EQ(out->desired, 2);
  EXPECT_EQ(out->ready, 1);
  EXPECT_EQ(out->stale, 3);
  EXPECT_EQ(out->message, "m");
  EXPECT_EQ(out->parked, "p");
  EXPECT_EQ(out->detail, "{}");
  EXPECT_TRUE(out->gone);
  EXPECT_EQ(out->epoch, Epoch(4));
  EXPECT_EQ(out->sequence, 5u);
  EXPECT_EQ(out->reported_at_unix_ms, 99);
  ASSERT_EQ(out->children.size(), 1u);
  EXPECT_EQ(out->children[0], (Child{"pod-1", "", "running", 0, 64}));
}

TEST(Envelope, FillsInWhatTheReporterLeftOut) {
  v1::Status in = wire();
  in.clear_region();
  in.clear_health();
  auto out = from_wire(in, "eu", 1000);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->key.region, "eu");
  EXPECT_EQ(out->health, "unknown");
  EXPECT_EQ(out->reported_at_unix_ms, 1000);
}

// An agent of a later version may know more of them.
TEST(Envelope, AWordOfHealthThatIsNotKnownSaysThatItIsUnknown) {
  v1::Status in = wire();
  for (const char* word : {"healthy", "unhealthy", "progressing", "paused", "unknown"}) {
    in.set_health(word);
    EXPECT_EQ(from_wire(in, "eu", 0)->health, word);
  }
  in.set_health("splendid");
  ASSERT_TRUE(from_wire(in, "eu", 0).ok());
  EXPECT_EQ(from_wire(in, "eu", 0)->health, "unknown");
}

TEST(Envelope, AnIssueKeepsEveryField) {
  v1::ProgressRequest in;
  in.set_agent("a");
  in.set_epoch(3);
  in.set_sequence(4);
  auto& i = *in.add_issues();
  i.set_kind("deployment");
  i.set_id("d_1");
  i.set_namespace_("shop");
  i.set_name("app");
  i.set_version(12);
  i.set_incarnation(41);
  i.set_condition("parked");
  i.set_reason("r");
  const Progress out = from_wire(in, "eu", 1000);
  EXPECT_EQ(out.sequence, 4u);
  ASSERT_EQ(out.issues.size(), 1u);
  const Issue& issue = out.issues[0];
  EXPECT_EQ(std::tie(issue.kind, issue.id, issue.ns, issue.name, issue.condition, issue.reason),
            std::forward_as_tuple("deployment", "d_1", "shop", "app", "parked", "r"));
  EXPECT_EQ(issue.version, Version(12));
  EXPECT_EQ(issue.incarnation, Incarnation(41));
}

TEST(Envelope, RefusesWhatCannotBeTrue) {
  v1::Status in = wire();
  in.set_region("us");
  EXPECT_EQ(from_wire(in, "eu", 0).error().message,
            "region \"us\" is not the one of the call (\"eu\")");
  in = wire();
  in.clear_id();
  EXPECT_FALSE(from_wire(in, "eu", 0).ok());
  in = wire();
  in.set_ready(-1);
  EXPECT_FALSE(from_wire(in, "eu", 0).ok());
}

TEST(ObservedHeader, FillsWhatCtrlV1CannotSay) {
  Status s;
  apply_observed_header(
      "version=12;desired=2;updated=1;ready=1;stale=3;health=progressing;epoch=4;sequence=9", s);
  EXPECT_EQ(s.observed_version, Version(12));
  EXPECT_EQ(s.desired, 2);
  EXPECT_EQ(s.updated, 1);
  EXPECT_EQ(s.ready, 1);
  EXPECT_EQ(s.stale, 3);
  EXPECT_EQ(s.health, "progressing");
  EXPECT_EQ(s.epoch, Epoch(4));
  EXPECT_EQ(s.sequence, 9u);
  EXPECT_FALSE(s.gone);
  apply_observed_header("gone=1", s);
  EXPECT_TRUE(s.gone);
}

TEST(ObservedHeader, PassesOverWhatItDoesNotUnderstand) {
  Status s;
  s.ready = 7;
  s.health = "healthy";
  for (const char* header :
       {"", ";;", "version", "=", "ready=", "ready=x", "ready=-1", "ready=5x", "health=odd",
        "later=1;version=12junk", "gone=0", "gone=", "ready=99999999999999999999"}) {
    apply_observed_header(header, s);
    EXPECT_EQ(s.ready, 7) << header;
    EXPECT_EQ(s.health, "healthy") << header;
    EXPECT_EQ(s.observed_version, Version(0)) << header;
    EXPECT_FALSE(s.gone) << header;
  }
}

TEST(Progress, CarriesCursorsAndIssues) {
  v1::ProgressRequest in;
  in.set_agent("a");
  in.set_software("davit 0.1.0");
  in.set_epoch(3);
  auto* k = in.add_kinds();
  k->set_kind("deployment");
  k->mutable_applied()->set_incarnation(7);
  k->mutable_applied()->set_version(12);
  auto* i = in.add_issues();
  i->set_kind("deployment");
  i->set_id("d_1");
  i->set_condition("parked");
  i->set_reason("invalid");
  auto out = from_wire(in, "eu", 55);
  EXPECT_EQ(out.region, "eu");
  EXPECT_EQ(out.agent, "a");
  EXPECT_EQ(out.seen_at_unix_ms, 55);
  ASSERT_EQ(out.kinds.size(), 1u);
  EXPECT_EQ(out.kinds[0].applied, (Cursor{7, 12}));
  ASSERT_EQ(out.issues.size(), 1u);
  EXPECT_EQ(out.issues[0].reason, "invalid");
}

}  // namespace
}  // namespace davit::recorder
