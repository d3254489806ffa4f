#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>

#include "status_view.hpp"

namespace davit::desired {
namespace {

class StatusViewTest : public testing::Test {
 protected:
  void record(const std::string& id, Version version, bool live = true) {
    named(id, id, version, live);
  }
  void named(const std::string& id, const std::string& name, Version version, bool live,
             const std::string& dead = "deleted") {
    Record r;
    r.key = {"widget", "eu", id};
    r.ns = "shop";
    r.name = name;
    r.version = version;
    r.live = live;
    r.state = live ? "running" : dead;
    const RecordView v(r);
    view_.record(v.abi);
  }
  void status(const std::string& id, Version version, const std::string& parked = {},
              bool gone = false) {
    Status s;
    s.key = {"widget", "eu", id};
    s.observed_version = version;
    s.parked = parked;
    s.gone = gone;
    view_.status(s);
  }
  void seen_at(const std::string& id, int64_t unix_ms) {
    Status s;
    s.key = {"widget", "eu", id};
    s.health = "healthy";
    s.reported_at_unix_ms = unix_ms;
    view_.status(s);
  }
  v1::StatusResponse answer() {
    v1::StatusResponse out;
    view_.render({1, 9}, 0, &out);
    return out;
  }
  StatusView view_{{"", "eu", ""}};
};

// What agents of Krane's are not sent: nobody but the server could say so.
TEST(Rendering, ARecordThatKranesAgentsAreNotSentIsHeld) {
  const Key key{"widget", "eu", "a"};
  const auto word = [&key](const std::string& software, const Status* observed,
                           const std::string& unsent) {
    Progress p;
    p.region = "eu";
    p.agent = "aws/eu";
    p.software = software;
    Wanted record;
    record.version = 7;
    if (!unsent.empty()) record.unsent = {DAVIT_ISSUE_HELD, unsent};
    v1::ObjectStatus out;
    render(key, record, observed, Conditions({Agent{p}}), &out);
    return out.condition() + "|" + out.reason();
  };
  Status earlier, ours;
  ours.observed_version = 7;
  EXPECT_EQ(word("ctrl.v1", nullptr, "size: no"), "held|size: no");
  EXPECT_EQ(word("ctrl.v1", &earlier, "size: no"), "held|size: no");
  EXPECT_EQ(word("ctrl.v1", &ours, "size: no"), "|") << "an agent of ours has it";
  EXPECT_EQ(word("ctrl.v1", &earlier, ""), "|");
  EXPECT_EQ(word("davit 1", &earlier, "size: no"), "|");
}

TEST_F(StatusViewTest, ShowsDesiredBesideObserved) {
  record("b", 5);
  record("a", 4);
  status("a", 3);
  auto out = answer();
  ASSERT_EQ(out.objects_size(), 2);
  EXPECT_EQ(out.objects(0).id(), "a");
  EXPECT_EQ(out.objects(0).version(), 4u);
  EXPECT_EQ(out.objects(0).observed().observed_version(), 3u);
  EXPECT_FALSE(out.objects(1).has_observed());
  EXPECT_EQ(out.head().version(), 9u);
}

TEST_F(StatusViewTest, TheNewestOfEverythingCounts) {
  record("a", 4);
  record("a", 6);
  status("a", 4);
  status("a", 6);
  auto out = answer();
  ASSERT_EQ(out.objects_size(), 1);
  EXPECT_EQ(out.objects(0).version(), 6u);
  EXPECT_EQ(out.objects(0).observed().observed_version(), 6u);
}

TEST_F(StatusViewTest, DeadRecordsAreShownWhileSomethingIsLeft) {
  record("a", 4, false);
  EXPECT_EQ(answer().objects_size(), 0);
  status("a", 3);
  ASSERT_EQ(answer().objects_size(), 1);
  EXPECT_FALSE(answer().objects(0).live());
  status("a", 4, "", true);
  EXPECT_EQ(answer().objects_size(), 0);
}

TEST_F(StatusViewTest, WhatWasSaidOfAnEarlierLifeHidesNoDeadRecord) {
  record("a", 4, false);
  status("a", 3, "", true);
  ASSERT_EQ(answer().objects_size(), 1);
  EXPECT_FALSE(answer().objects(0).observed().gone());
  status("a", 0, "", true);
  EXPECT_EQ(answer().objects_size(), 0) << "an agent of Krane's names no version";
}

TEST_F(StatusViewTest, ArchivedRecordsAreShownAlsoWhenNothingIsLeft) {
  named("a", "a", 4, false, "archived");
  ASSERT_EQ(answer().objects_size(), 1);
  EXPECT_EQ(answer().objects(0).state(), "archived");
  status("a", 4, "", true);
  ASSERT_EQ(answer().objects_size(), 1);
  EXPECT_TRUE(answer().objects(0).observed().gone());
  named("new", "a", 5, true);
  ASSERT_EQ(answer().objects_size(), 2);
  EXPECT_FALSE(answer().objects(0).has_observed()) << "what is there is the other's";
}

TEST_F(StatusViewTest, ARecordThatIsRetriedSaysWhy) {
  record("a", 4);
  Status s;
  s.key = {"widget", "eu", "a"};
  s.health = "healthy";
  s.message = "retrying: 409 Conflict: the object is being deleted";
  view_.status(s);
  EXPECT_EQ(answer().objects(0).condition(), "retrying");
  EXPECT_EQ(answer().objects(0).reason(), "409 Conflict: the object is being deleted");
}

TEST_F(StatusViewTest, OfADeadRecordWhoseNameIsTakenOverNothingIsLeft) {
  named("old", "web", 4, false);
  status("old", 3);
  ASSERT_EQ(answer().objects_size(), 1);
  named("new", "web", 5, true);
  ASSERT_EQ(answer().objects_size(), 1);
  EXPECT_EQ(answer().objects(0).id(), "new");
}

TEST_F(StatusViewTest, OfADeadRecordWithoutANameNothingIsLeft) {
  named("old", "", 4, false);
  status("old", 3);
  EXPECT_EQ(answer().objects_size(), 0);
}

TEST_F(StatusViewTest, AgentsIssuesAndParkedStatusesAreConditions) {
  record("held", 4);
  record("parked", 5);
  status("parked", 5, "image is missing");
  view_.agents(
      {{{"eu", "agent-a", "davit", 0, {}, {{"widget", "held", "", "", 4, "held", "paused"}}, 0},
        3}});
  auto out = answer();
  EXPECT_EQ(out.objects(0).condition(), "held");
  EXPECT_EQ(out.objects(0).reason(), "paused");
  EXPECT_EQ(out.objects(1).condition(), "parked");
  EXPECT_EQ(out.objects(1).reason(), "image is missing");
  ASSERT_EQ(out.agents_size(), 1);
  EXPECT_EQ(out.agents(0).lag(), 3u);
}

TEST_F(StatusViewTest, WhatAnAgentSaidOfKindsThatAnotherHasTakenOverIsNoLongerSo) {
  record("fixed", 4);
  const auto agent = [](const std::string& name, Epoch epoch, int64_t seen,
                        std::vector<Issue> issues) {
    return Agent{{"eu", name, "davit", epoch, {{"widget", {1, 9}}}, std::move(issues), seen}, 2};
  };
  const Issue parked{"widget", "fixed", "", "", 4, "parked", "no such image"};
  const Issue unreachable{"", "", "", "statuses", 0, "delayed", "the breaker is open"};
  const auto before = agent("a", 1, 0, {parked, unreachable});
  view_.agents({before, agent("b", 2, 90'000, {})});
  EXPECT_EQ(answer().objects(0).condition(), "parked") << "both may be at work";
  EXPECT_FALSE(answer().agents(0).taken_over());
  view_.agents({before, agent("b", 2, 90'001, {})});
  const auto out = answer();
  EXPECT_EQ(out.objects(0).condition(), "");
  ASSERT_EQ(out.agents_size(), 2);
  EXPECT_TRUE(out.agents(0).taken_over());
  EXPECT_EQ(out.agents(0).issues_size(), 0);
  EXPECT_FALSE(out.agents(1).taken_over());
}

TEST_F(StatusViewTest, WhatABlindAgentDoesNotSeeIsUnknown) {
  record("before", 4);
  record("since", 5);
  record("never", 6);
  seen_at("before", 1'700'000'000'499);
  seen_at("since", 1'700'000'000'500);
  const Issue blind{
      "widget", "", "", "pods", 0, "blind", "since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden"};
  view_.agents({{{"eu", "agent-a", "davit", 0, {}, {blind}, 0}, 0}});
  const auto out = answer();
  ASSERT_EQ(out.objects_size(), 3);
  EXPECT_EQ(out.objects(0).observed().health(), "unknown");
  EXPECT_EQ(out.objects(0).condition(), "blind");
  EXPECT_EQ(out.objects(0).reason(), "unknown since 2023-11-14T22:13:20.500Z: pods: 403 Forbidden");
  EXPECT_EQ(out.objects(1).condition(), "blind") << "of which nothing was ever seen";
  EXPECT_FALSE(out.objects(1).has_observed());
  EXPECT_EQ(out.objects(2).observed().health(), "healthy") << "told since: seen all the same";
  EXPECT_EQ(out.objects(2).condition(), "");
  EXPECT_EQ(out.agents(0).issues_size(), 1);
  view_.agents({{{"eu", "agent-a", "davit", 0, {}, {}, 0}, 0}});
  EXPECT_EQ(answer().objects(0).observed().health(), "healthy");
}

TEST_F(StatusViewTest, BlindnessIsOfItsKindAndRegion) {
  record("a", 4);
  seen_at("a", 1);
  const auto blind = [](const std::string& kind) {
    return Issue{kind, "", "", "pods", 0, "blind", "since 2023-11-14T22:13:20.500Z: no"};
  };
  view_.agents({{{"eu", "agent-a", "davit", 0, {}, {blind("gadget")}, 0}, 0},
                {{"us", "agent-b", "davit", 0, {}, {blind("widget")}, 0}, 0}});
  EXPECT_EQ(answer().objects(0).observed().health(), "healthy");
  Issue without_time = blind("widget");
  without_time.reason = "a peer that does not say since when";
  view_.agents({{{"eu", "agent-a", "davit", 0, {}, {without_time}, 0}, 0}});
  EXPECT_EQ(answer().objects(0).observed().health(), "unknown");
}

TEST_F(StatusViewTest, OtherRegionsDoNotMixIn) {
  record("a", 4);
  view_.agents(
      {{{"us", "agent-b", "davit", 0, {}, {{"widget", "a", "", "", 4, "parked", "x"}}, 0}, 0}});
  auto out = answer();
  EXPECT_EQ(out.objects(0).condition(), "");
  EXPECT_EQ(out.agents_size(), 0);
}

}  // namespace
}  // namespace davit::desired
