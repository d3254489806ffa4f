// The faults that the audit exists for, planted one by one into a history that is right.
#include "audit.hpp"

#include <gtest/gtest.h>

#include "line.hpp"

namespace davit::torture {
namespace {

const Topic topic{"deployment", "r0"};

// Two names: "a" is written, deleted and comes back under another id; "b" is written and changed.
// Every write is answered before the next is asked for.
class TortureAudit : public testing::Test {
 protected:
  TortureAudit() {
    write("a", "a.1", "one");
    write("b", "b.1", "two");
    write("a", "a.1", {}, false);
    write("b", "b.1", "four");
    write("a", "a.2", "five");
    stored_.head = 5;
    stored_.rows = {{topic, "a", "a.1", "", "q3", 3, false},
                    {topic, "b", "b.1", "four", "q4", 4, true},
                    {topic, "a", "a.2", "five", "q5", 5, true}};
    for (uint64_t v = 1; v <= 5; ++v) stored_.requests["q" + std::to_string(v)] = v;
  }

  void write(const std::string& name, const std::string& id, const std::string& content,
             bool live = true) {
    const uint64_t version = ++versions_;
    journal_[topic][name].push_back({name, id, content, live, version, version * 10,
                                     version * 10 + 5, "q" + std::to_string(version)});
  }
  Write& write_at(const std::string& name, size_t index) { return journal_[topic][name][index]; }
  static Step got(uint64_t version, uint64_t at, const std::string& name, const std::string& id,
                  const std::string& content) {
    return {at, name, Object{id, content, version}, version, false};
  }
  static Step lost(uint64_t version, uint64_t at, const std::string& name) {
    return {at, name, {}, version, false};
  }
  // Each write as it was answered.
  Steps every_step() const {
    return {got(1, 16, "a", "a.1", "one"), got(2, 26, "b", "b.1", "two"), lost(3, 36, "a"),
            got(4, 46, "b", "b.1", "four"), got(5, 56, "a", "a.2", "five")};
  }
  std::vector<Fault> judge(const Steps& steps) const {
    Audit audit(journal_);
    audit.reader("reader", topic, steps);
    return audit.faults();
  }
  std::vector<Fault> judge_store() const {
    Audit audit(journal_);
    audit.writes();
    audit.store(stored_);
    return audit.faults();
  }
  static void expect(const std::vector<Fault>& faults, const std::string& text,
                     const std::string& name) {
    for (const auto& f : faults) {
      if (f.what.find(text) != std::string::npos && f.name == name) return;
    }
    ADD_FAILURE() << "not found: " << text << " of \"" << name << "\"; found " << faults.size()
                  << (faults.empty() ? "" : ", the first: " + faults[0].what);
  }

  Journal journal_;
  Stored stored_;
  uint64_t versions_ = 0;
};

TEST_F(TortureAudit, FindsNothingWhereAllIsRight) {
  EXPECT_TRUE(judge(every_step()).empty());
  EXPECT_TRUE(judge_store().empty());
}

TEST_F(TortureAudit, AllowsToMissWhatWasFollowedByThen) {
  // All of it is read when everything has been written.
  EXPECT_TRUE(
      judge({lost(3, 60, "a"), got(4, 60, "b", "b.1", "four"), got(5, 60, "a", "a.2", "five")})
          .empty());
  EXPECT_TRUE(judge({got(4, 60, "b", "b.1", "four"), got(5, 60, "a", "a.2", "five")}).empty());
}

TEST_F(TortureAudit, FindsADroppedDelete) {
  auto steps = every_step();
  steps.erase(steps.begin() + 2);  // 4 comes at 46, and "a" was not written again before 50
  expect(judge(steps), "a delete was missed", "a");
}

TEST_F(TortureAudit, FindsADroppedChange) {
  auto steps = every_step();
  steps.erase(steps.begin() + 3);
  expect(judge(steps), "a change was lost", "b");
}

TEST_F(TortureAudit, FindsADroppedCreation) {
  auto steps = every_step();
  steps.erase(steps.begin());
  steps[0].at = 28;  // "a" was not written again before 30
  expect(judge(steps), "a record was lost", "a");
}

TEST_F(TortureAudit, FindsWhatABookmarkRunsAheadOf) {
  auto steps = every_step();
  steps.pop_back();
  steps.push_back({57, {}, {}, 5, false});
  expect(judge(steps), "a record was lost", "a");
}

TEST_F(TortureAudit, FindsAResurrection) {
  auto steps = every_step();
  steps.insert(steps.begin() + 3, {37, "a", Object{"a.1", "one", 1}, 0, false});
  steps.insert(steps.begin() + 4, {38, {}, {}, 3, true});
  expect(judge(steps), "a delete was missed, or undone", "a");
}

TEST_F(TortureAudit, FindsASnapshotThatLacksALiveRecord) {
  auto steps = every_step();
  steps.push_back({60, "b", {}, 0, false});
  steps.push_back({60, {}, {}, 5, true});
  expect(judge(steps), "a record was lost", "b");
}

TEST_F(TortureAudit, FindsWhatNobodyWrote) {
  auto steps = every_step();
  steps.push_back(got(6, 66, "b", "b.1", "six"));
  expect(judge(steps), "which nobody wrote", "b");
}

TEST_F(TortureAudit, FindsInASnapshotWhatNobodyWrote) {
  auto steps = every_step();
  steps.push_back({66, "b", Object{"b.1", "six", 4}, 0, false});
  steps.push_back({67, {}, {}, 5, true});
  expect(judge(steps), "sent b.1 at version 4 (six) as version 4", "b");
}

TEST_F(TortureAudit, FindsTwoDeliveriesInTheWrongOrder) {
  auto steps = every_step();
  std::swap(steps[2], steps[4]);
  EXPECT_FALSE(judge(steps).empty());
}

TEST_F(TortureAudit, FindsAnotherContent) {
  auto steps = every_step();
  steps[3].now->content = "two";
  expect(judge(steps), "as version 4, which is the write of b.1", "b");
}

TEST_F(TortureAudit, FindsALostAcknowledgedWrite) {
  stored_.rows.pop_back();
  expect(judge_store(), "was answered and is not stored", "a");
}

TEST_F(TortureAudit, FindsAnAcknowledgedWriteThatWasRolledBack) {
  stored_.rows[1] = {topic, "b", "b.1", "two", "q2", 2, true};
  expect(judge_store(), "and version 2 is stored", "b");
}

TEST_F(TortureAudit, FindsAStoredWriteThatNobodyMade) {
  stored_.rows.push_back({topic, "c", "c.1", "six", "q6", 6, true});
  expect(judge_store(), "which nobody wrote", "c");
}

TEST_F(TortureAudit, FindsHalfAGroup) {
  stored_.requests["q6"] = 6;  // the request was taken, its record was not
  expect(judge_store(), "request \"q6\" is stored, and nobody was answered", "");
  stored_.requests.erase("q6");
  stored_.requests.erase("q4");  // the record was written, its request was not
  expect(judge_store(), "request \"q4\" is not stored", "b");
  stored_.requests["q4"] = 4;
  stored_.head = 6;  // a version was given, and no record has it
  expect(judge_store(), "the head is 6, and the newest write 5", "");
}

TEST_F(TortureAudit, FindsARequestThatWasCarriedOutTwice) {
  stored_.requests["q4"] = 6;
  expect(judge_store(), "request \"q4\" is stored with version 6", "b");
}

TEST_F(TortureAudit, FindsAVersionGivenTwice) {
  write_at("b", 1).version = 3;
  expect(judge_store(), "version 3 was given twice", "b");
}

TEST_F(TortureAudit, FindsAVersionThatDoesNotGrow) {
  std::swap(write_at("a", 1).version, write_at("b", 1).version);
  expect(judge_store(), "was asked for when version 4 had been given", "b");
}

TEST_F(TortureAudit, TakesAPurgedTombstoneForGoneButNoOther) {
  stored_.rows.erase(stored_.rows.begin());
  expect(judge_store(), "the delete of a.1 at version 3 was answered and is not stored", "a");
  stored_.purged_through = 3;
  EXPECT_TRUE(judge_store().empty());
}

TEST_F(TortureAudit, FindsATombstoneBelowThePurgeMark) {
  stored_.purged_through = 3;
  expect(judge_store(), "a tombstone below the purge mark is still stored", "a");
}

TEST_F(TortureAudit, ADeleteWhoseVersionNobodyHeardMayHaveAnyInBetween) {
  write_at("a", 1).version = 0;
  EXPECT_TRUE(judge(every_step()).empty());
  EXPECT_FALSE(judge({lost(2, 60, "a")}).empty());
}

// Version 5 went to a.1 when the write of a.2 took its name.
TEST_F(TortureAudit, ADeletedRecordWhoseNameWasTakenHasAVersionOfItsOwn) {
  write_at("a", 2).version = 6;
  stored_.rows[0].version = 5;
  stored_.rows[2].version = 6;
  stored_.requests["q5"] = 6;
  stored_.head = 6;
  EXPECT_TRUE(judge_store().empty());
  Steps steps = every_step();
  steps.back() = got(6, 66, "a", "a.2", "five");
  steps.insert(steps.end() - 1, lost(5, 56, "a"));
  EXPECT_TRUE(judge(steps).empty());
  stored_.rows[0].version = stored_.head = 7;  // later than what took the name
  expect(judge_store(), "which nobody wrote", "a");
}

TEST_F(TortureAudit, AtRestAClusterIsWhatIsStored) {
  const Objects right{{"a", {"a.2", "five", 5}}, {"b", {"b.1", "four", 4}}};
  const auto rest = [&](const Objects& objects) {
    Audit audit(journal_);
    audit.rest("reader", topic, objects, stored_);
    return audit.faults();
  };
  EXPECT_TRUE(rest(right).empty());
  Objects lacks = right, more = right, older = right;
  lacks.erase("a");
  more["c"] = {"c.1", "six", 6};
  older["b"] = {"b.1", "two", 2};
  expect(rest(lacks), "at rest there is nothing", "a");
  expect(rest(more), "which the store does not have", "c");
  expect(rest(older), "b.1 at version 2 (two), and the store has b.1 at version 4", "b");
}

TEST_F(TortureAudit, CountsEachLostWriteOnce) {
  auto steps = every_step();
  steps.erase(steps.begin() + 3);
  stored_.rows.pop_back();
  Audit audit(journal_);
  audit.store(stored_);
  EXPECT_EQ(audit.lost(), 1U);
  audit.reader("quick", topic, steps);
  EXPECT_EQ(audit.lost(), 2U);
  audit.reader("slow", topic, steps);
  EXPECT_EQ(audit.lost(), 2U);
}

TEST_F(TortureAudit, TellsTheStoryOfAName) {
  auto steps = every_step();
  steps.erase(steps.begin() + 2);
  const Audit audit(journal_);
  const std::string story = audit.story({"a delete was missed", topic, "a", "slow"}, steps);
  EXPECT_NE(story.find("reader slow: a delete was missed"), std::string::npos) << story;
  EXPECT_NE(story.find("delete of a.1 at version 3"), std::string::npos) << story;
  EXPECT_NE(story.find("a.2 at version 5 (five), through 5"), std::string::npos) << story;
  EXPECT_EQ(story.find("b.1"), std::string::npos) << story;
}

}  // namespace
}  // namespace davit::torture
