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
  std::string asked() {
    std::vector<std::string> ids;
    for (const auto& known : audit_.to_ask(now_)) ids.push_back(known.named.id);
    std::sort(ids.begin(), ids.end());
    std::string out;
    for (const auto& id : ids) out += id;
    return out;
  }
  bool absent(const char* id) { return audit_.absent(id, now_); }
  void wait(std::chrono::nanoseconds d) { now_ += d; }

  Audit audit_{{300s, 60s}};
  std::chrono::nanoseconds now_{1h};
  uint64_t version_ = 0;
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
