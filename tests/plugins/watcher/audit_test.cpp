#include "audit.hpp"

#include <gtest/gtest.h>

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;

class AuditTest : public ::testing::Test {
 protected:
  // A listing that names `ids`.
  void listing(std::initializer_list<const char*> ids) {
    audit_.listing(now_);
    for (const char* id : ids) lives(id);
  }
  void lives(const std::string& id) { audit_.lives({id, "ns", "name-" + id}, ++version_); }
  // The ids that are to be asked for, sorted.
  std::string asked(size_t limit = 100) {
    std::vector<std::string> ids;
    for (const auto& known : audit_.to_ask(now_, limit)) ids.push_back(known.named.id);
    std::sort(ids.begin(), ids.end());
    std::string out;
    for (const auto& id : ids) out += id;
    return out;
  }
  bool absent(const char* id) { return audit_.absent(id, now_); }
  void wait(std::chrono::nanoseconds d) { now_ += d; }

  Audit audit_{{300s, 60s}};
  std::chrono::nanoseconds now_{1h};
  Version version_{};
};

TEST_F(AuditTest, ListsAgainAfterAWhile) {
  listing({"a"});
  EXPECT_FALSE(audit_.wants_listing(now_ + 299s));
  EXPECT_TRUE(audit_.wants_listing(now_ + 300s));
  Audit never({0s, 60s});
  EXPECT_FALSE(never.wants_listing(1000h));
}

TEST_F(AuditTest, AsksForWhatAListingLeftOut) {
  listing({"a", "b", "c"});
  wait(1h);
  EXPECT_EQ(asked(), "") << "all were named";
  listing({"a", "b"});
  EXPECT_EQ(asked(), "") << "it may still come";
  wait(60s);
  EXPECT_EQ(asked(), "c");
  EXPECT_EQ(asked(), "") << "asked already";
  wait(60s);
  EXPECT_EQ(asked(), "c");
  lives("c");
  wait(60s);
  EXPECT_EQ(asked(), "");
}

TEST_F(AuditTest, AsksInTheNextRoundForThoseWhoHadNoPlaceInThisOne) {
  listing({"a", "b", "c", "d", "e", "f", "g"});
  listing({"a", "b", "c", "d"});
  wait(60s);
  std::string all = asked(2);
  EXPECT_EQ(all.size(), 2u);
  all += asked(2);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, "efg");
  EXPECT_EQ(asked(2), "");
}

TEST_F(AuditTest, AsksAgainSoonAndThenLaterWhenThereWasNoAnswer) {
  listing({"a", "b", "c"});
  listing({"a", "b"});
  wait(60s);
  ASSERT_EQ(asked(), "c");
  // With this randomness a wait is half its ceiling.
  for (const auto pause : {500ms, 1000ms, 2000ms, 4000ms, 8000ms, 16000ms, 30000ms, 30000ms}) {
    audit_.unanswered("c", now_, 0);
    wait(pause - 1ms);
    EXPECT_EQ(asked(), "") << pause.count();
    wait(1ms);
    EXPECT_EQ(asked(), "c") << pause.count();
  }
  audit_.present("c");
  wait(60s);
  ASSERT_EQ(asked(), "c") << "still not named";
  audit_.unanswered("c", now_, 0);
  wait(500ms);
  EXPECT_EQ(asked(), "c") << "an answer ends the waits";
}

TEST_F(AuditTest, NoAnswerTakesNothingBack) {
  listing({"a", "b", "c"});
  listing({"a", "b"});
  EXPECT_FALSE(absent("c"));
  wait(30s);
  audit_.unanswered("c", now_, 0);
  wait(30s);
  EXPECT_TRUE(absent("c"));
}

TEST_F(AuditTest, BelievesTwoAnswersAMinuteApart) {
  listing({"a", "b", "c"});
  listing({"a", "b"});
  EXPECT_FALSE(absent("c"));
  wait(59s);
  EXPECT_FALSE(absent("c"));
  wait(1s);
  EXPECT_TRUE(absent("c"));
  EXPECT_FALSE(absent("c")) << "it is forgotten";
  EXPECT_EQ(audit_.size(), 2u);
}

TEST_F(AuditTest, BeginsAnewWhenSomethingIsHeardOfARecord) {
  listing({"a", "b", "c"});
  listing({"a", "b"});
  EXPECT_FALSE(absent("c"));
  wait(60s);
  audit_.present("c");
  EXPECT_FALSE(absent("c"));
  wait(60s);
  lives("c");
  EXPECT_FALSE(absent("c")) << "it was named since it was asked for";
  EXPECT_EQ(audit_.size(), 3u);
}

TEST_F(AuditTest, DistrustsAPeerThatLeavesOutMost) {
  listing({"a", "b", "c"});
  listing({"a"});
  wait(60s);
  EXPECT_EQ(asked(), "");
  EXPECT_TRUE(audit_.distrusts());
  lives("b");
  EXPECT_EQ(asked(), "c");
  EXPECT_FALSE(audit_.distrusts());
  listing({});
  wait(60s);
  EXPECT_EQ(asked(), "");
  EXPECT_TRUE(audit_.distrusts()) << "a region that it does not know is an empty one";
}

TEST_F(AuditTest, ForgetsWhatIsDeleted) {
  listing({"a", "b", "c", "d"});
  audit_.goes({"a", "", ""});
  audit_.goes({"", "ns", "name-b"});
  audit_.goes({"", "", "name-c"});
  audit_.goes({"", "elsewhere", "name-d"});
  EXPECT_EQ(audit_.size(), 1u);
}

}  // namespace
}  // namespace davit::watcher
