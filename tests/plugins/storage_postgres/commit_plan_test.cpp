// What a commit decides, without a database. The storage suite proves the rules; these are the
// cases in which one commit concerns a record twice.
#include "commit_plan.hpp"

#include <gtest/gtest.h>

namespace davit::storage_postgres {
namespace {

constexpr Cursor head{7, 100};
// Of version 41 on another incarnation, 6, has given versions that were lost.
const storage::Chain chain = [] {
  storage::Chain out;
  out.append({6, 1, 1});
  out.append({7, 41, 1});
  return out;
}();

Record named(const std::string& id, const std::string& name, bool live = true) {
  Record r;
  r.key = {"widget", "r1", id};
  r.ns = "default";
  r.name = name;
  r.live = live;
  return r;
}
StoredRecord stored(Version version, bool live, const std::string& name, bool taken = false) {
  return {version, live, taken, "default", name};
}
Key key(const std::string& id) {
  return {"widget", "r1", id};
}
// "id@version" of each write in turn; a "-" stands before one that only gets a version.
std::string shown(const CommitPlan& plan) {
  std::string out;
  for (const auto& w : plan.writes())
    out += (w.record == nullptr ? "-" : "") + w.key.id + "@" + to_string(w.row.version) + " ";
  return out;
}

TEST(CommitPlan, GivesVersionsAboveTheHeadInTheOrderOfTheGroups) {
  CommitPlan plan({}, chain, head);
  const Group one{{{named("a", "a")}, {named("b", "b")}}, {}}, two{{{named("c", "c")}}, {}};
  EXPECT_EQ(plan.apply(one).first_version, Version(101));
  const auto second = plan.apply(two);
  EXPECT_EQ(second.first_version, Version(103));
  EXPECT_EQ(second.incarnation, head.incarnation);
  EXPECT_EQ(shown(plan), "a@101 b@102 c@103 ");
  EXPECT_EQ(plan.head(), Version(103));
}

TEST(CommitPlan, AGroupThatFailsGivesItsVersionsToTheNext) {
  CommitPlan plan({{{key("d"), stored(5, false, "one")}}, {}}, chain, head);
  const Group fails{{{named("x", "one")}, {named("y", "y"), 9}}, "request"};
  const Group next{{{named("z", "z")}}, "other"};
  EXPECT_TRUE(plan.apply(fails).error);
  EXPECT_EQ(plan.apply(next).first_version, Version(101));
  EXPECT_EQ(shown(plan), "z@101 ") << "what the failed group took over was not given back";
  ASSERT_EQ(plan.new_requests().size(), 1u);
  EXPECT_EQ(plan.new_requests()[0].first, "other");
}

TEST(CommitPlan, WhoseNameIsTakenOverIsWrittenOnceThoughALaterGroupWritesItToo) {
  CommitPlan plan({{{key("d"), stored(5, false, "one")}}, {}}, chain, head);
  const Group takes{{{named("x", "one")}}, {}};
  Record again = named("d", "one", false);
  again.payload = "new";
  const Group writes{{{again}}, {}};
  EXPECT_EQ(plan.apply(takes).first_version, Version(102));
  EXPECT_EQ(plan.apply(writes).first_version, Version(103));
  EXPECT_EQ(shown(plan), "x@102 d@103 ");
  EXPECT_TRUE(plan.writes()[1].row.name_taken);
}

TEST(CommitPlan, ARecordThatDiesInOneGroupLeavesItsNameToTheNext) {
  CommitPlan plan({{{key("a"), stored(5, true, "one")}}, {}}, chain, head);
  const Group dies{{{named("a", "one", false)}}, {}}, takes{{{named("b", "one")}}, {}};
  EXPECT_FALSE(plan.apply(dies).error);
  const auto taken = plan.apply(takes);
  ASSERT_FALSE(taken.error) << taken.error->message;
  EXPECT_EQ(shown(plan), "a@102 b@103 ") << "a's new version says that its name is taken";
  EXPECT_TRUE(plan.writes()[0].row.name_taken);
}

TEST(CommitPlan, AVersionIsExpectedInVainInAnIncarnationThatHasLostIt) {
  struct Row {
    Cursor expected;
    bool met;
  };
  for (const Row& row : {Row{{7, 50}, true}, Row{{0, 50}, true}, Row{{6, 50}, false},
                         Row{{5, 50}, false}, Row{{7, 49}, false}}) {
    CommitPlan plan({{{key("a"), stored(50, true, "a")}}, {}}, chain, head);
    const Group change{{{named("a", "a"), row.expected.version, row.expected.incarnation}}, {}};
    const auto result = plan.apply(change);
    const std::string what =
        to_string(row.expected.incarnation) + "/" + to_string(row.expected.version);
    EXPECT_EQ(!result.error, row.met) << what;
    EXPECT_EQ(plan.changes(), row.met) << what;
    if (row.met) continue;
    EXPECT_EQ(result.error->code, Code::aborted) << what;
    EXPECT_EQ(result.actual_version, Version(50)) << what;
    EXPECT_EQ(result.incarnation, head.incarnation) << what;
  }
  CommitPlan plan({{{key("a"), stored(40, true, "a")}}, {}}, chain, head);
  const Group change{{{named("a", "a"), 40, 6}}, {}};
  EXPECT_FALSE(plan.apply(change).error) << "6 ended at 40";
}

TEST(CommitPlan, ARequestThatTheStoreKnowsChangesNothing) {
  CommitPlan plan({{}, {{"id\nprint", Version(42)}}}, chain, head);
  const Group same{{{named("a", "a")}}, "id\nprint"}, other{{{named("a", "a")}}, "id\nanother"};
  EXPECT_EQ(plan.apply(same).first_version, Version(42));
  const auto refused = plan.apply(other);
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code, Code::failed_precondition);
  EXPECT_FALSE(plan.changes());
}

TEST(CommitPlan, ARequestThatStandsTwiceInOneCommitIsCarriedOutOnce) {
  CommitPlan plan({}, chain, head);
  const Group once{{{named("a", "a")}}, "id"};
  EXPECT_EQ(plan.apply(once).first_version, Version(101));
  EXPECT_EQ(plan.apply(once).first_version, Version(101));
  EXPECT_EQ(plan.head(), Version(101));
}

}  // namespace
}  // namespace davit::storage_postgres
