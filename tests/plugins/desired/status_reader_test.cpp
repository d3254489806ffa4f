// Reading the status of a store that misbehaves, or for a caller who has gone.
#include "status_reader.hpp"

#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>
#include <davit/testing/host.hpp>
#include <davit/testing/module.hpp>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

// Says that there is always more of a region, and never moves on.
class StuckStore : public testing::EmptyStorage {
 public:
  int pages = 0;
  bool advances = false;

  Result<Head> head(const Op&) { return Head{{1, 10}, 0, 0}; }
  Result<Page> read(const Op& op, const ReadRequest& request, const storage::VisitRecord&) {
    if (request.scope.region.empty()) return Page{false, 10, *head(op)};
    ++pages;
    return Page{true, advances ? request.cursor.version + 1 : request.cursor.version, *head(op)};
  }
};

// Has one record and one status. A failover may lose the status, and give its number again.
class FailingOver : public testing::EmptyStorage {
 public:
  Incarnation incarnation = 1;
  std::string health = "healthy";

  Result<Head> head(const Op&) { return Head{{incarnation, 1}, 1, 0}; }
  Result<Page> read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
    Record r;
    r.key = {"widget", "eu", "a"};
    r.version = 1;
    if (q.cursor.version == 0) visit(r);
    return Page{false, 1, *head(op)};
  }
  Result<StatusPage> statuses(const Op& op, const StatusRead& q,
                              const storage::VisitStatus& visit) {
    if (q.cursor.version != 0 && q.cursor.incarnation != incarnation)
      return Error{Code::out_of_range, "is of another history"};
    Status s;
    s.key = {"widget", "eu", "a"};
    s.observed_version = s.status_version = 1;
    s.health = health;
    if (q.cursor.version == 0) visit(s);
    return StatusPage{false, {incarnation, 1}, *head(op)};
  }
};

class StatusReaderTest : public ::testing::Test {
 protected:
  template <class Store>
  StatusReader reader(Store& store, GoOn go_on) {
    return {testing::client_of(host_, store), lag_, {"", "eu", ""}, std::move(go_on)};
  }
  testing::TestHost host_;
  StuckStore store_;
  Lag lag_;
};

TEST_F(StatusReaderTest, EndsWhenTheStoreDoesNotAdvance) {
  const auto r = reader(store_, [] { return true; }).refresh();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::internal);
  EXPECT_EQ(store_.pages, 1);
}

TEST_F(StatusReaderTest, EndsWhenItsCallerHasGone) {
  store_.advances = true;
  int asked = 0;
  const auto r = reader(store_, [&asked] { return ++asked < 6; }).refresh();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::cancelled);
  EXPECT_EQ(store_.pages, 5);
}

TEST_F(StatusReaderTest, BeginsAnewWhenTheStoreHasLostStatusesAndNoRecord) {
  FailingOver store;
  auto made = reader(store, [] { return true; });
  const auto health = [&made] {
    const auto r = made.refresh();
    EXPECT_TRUE(r.ok()) << r.error().message;
    v1::StatusResponse answer;
    made.render(0, &answer);
    return answer.objects_size() == 1 ? answer.objects(0).observed().health() : "nothing";
  };
  EXPECT_EQ(health(), "healthy");
  store.incarnation = 2;
  store.health = "unhealthy";
  EXPECT_EQ(health(), "unhealthy");
}

// What agents of Krane's are not sent.
class StatusOfKraneTest : public ::testing::Test {
 protected:
  StatusOfKraneTest()
      : store_(*testing::Loaded::open(STORAGE_MODULE)), made_(store_.plugin(), host_) {
    EXPECT_TRUE(made_.up().ok());
    storage_ = storage::Client(host_.host(), made_.ref(DAVIT_STORAGE));
    for (const char* region : {"eu", "us"}) {
      put(region, "a");
      put(region, "b");
    }
  }
  ~StatusOfKraneTest() override { EXPECT_TRUE(made_.stop().ok()); }

  void put(const std::string& region, const std::string& id) {
    Record r;
    r.key = {"widget", region, id};
    r.ns = "shop";
    r.name = id;
    r.state = "running";
    r.live = true;
    ASSERT_TRUE(storage_.commit_now({{{{r, any_version}}, ""}}).ok());
  }
  void heard_of(const std::string& region, const std::string& software) {
    ASSERT_TRUE(storage_.progress({region, "one", software, 1, {}, {}, ++now_}).ok());
  }
  StatusReader reader(Selection selection = {}) {
    return {storage_,
            lag_,
            std::move(selection),
            [] { return true; },
            {[this](const davit_record& r, KindQueries& queries) {
               asked_ += text(r.key.region) + '/' + text(r.key.id) + ' ';
               queries.add(davit::from_abi(r.key), "kind", [this] { return says_; });
             },
             [this] { return host_.now(); }}};
  }
  // Of whom the kind was asked meanwhile.
  std::string refreshed(StatusReader& reader) {
    asked_.clear();
    for (;;) {
      const auto r = reader.refresh();
      if (!r.ok()) return r.error().message;
      const auto queries = reader.queries();
      if (!queries) return asked_;
      bool asked = false;
      KindQueries::run(host_, host_.host().strand(), queries, [&asked] { asked = true; });
      EXPECT_TRUE(host_.run_until([&asked] { return asked; }));
    }
  }
  static std::string held(const StatusReader& reader) {
    v1::StatusResponse answer;
    reader.render(0, &answer);
    std::string out;
    for (const auto& o : answer.objects()) {
      if (o.condition() == DAVIT_ISSUE_HELD) out += o.region() + '/' + o.id() + ' ';
    }
    return out;
  }

  testing::TestHost host_{"main", {{"path", ":memory:"}}, testing::TestHost::Time::manual};
  testing::Loaded store_;
  testing::Instance made_;
  storage::Client storage_;
  Lag lag_;
  std::string asked_;
  Condition says_{DAVIT_ISSUE_HELD, "no"};
  int64_t now_ = 0;
};

TEST_F(StatusOfKraneTest, TheKindIsAskedOnlyWhereAllAgentsSpeakCtrlV1) {
  heard_of("eu", "davit");
  heard_of("us", "ctrl.v1");
  auto all = reader();
  EXPECT_EQ(refreshed(all), "us/a us/b ");
  EXPECT_EQ(held(all), "us/a us/b ");
  put("eu", "c");
  put("us", "c");
  EXPECT_EQ(refreshed(all), "us/c ");
  EXPECT_EQ(refreshed(all), "");
  auto one = reader({"widget", "eu", "a"});
  EXPECT_EQ(refreshed(one), "");
}

TEST_F(StatusOfKraneTest, TheKindIsAskedAgainOfARegionWhoseAgentsSpeakNothingElseAnyMore) {
  heard_of("us", "davit");
  auto all = reader();
  auto one = reader({"widget", "us", "b"});
  auto other = reader({"", "eu", ""});
  EXPECT_EQ(refreshed(all) + refreshed(one) + refreshed(other), "");
  heard_of("us", "ctrl.v1");
  EXPECT_EQ(refreshed(all), "us/a us/b ");
  EXPECT_EQ(held(all), "us/a us/b ");
  EXPECT_EQ(refreshed(one), "us/b ");
  EXPECT_EQ(refreshed(other), "");
  heard_of("us", "davit");
  put("us", "a");
  EXPECT_EQ(refreshed(all), "");
  EXPECT_EQ(held(all), "");
  heard_of("us", "ctrl.v1");
  EXPECT_EQ(refreshed(all), "us/b us/a ") << "also what it was not asked of meanwhile";
}

TEST_F(StatusOfKraneTest, AKindThatCouldNotAnswerIsAskedAgainNowAndThen) {
  heard_of("us", "ctrl.v1");
  says_ = {DAVIT_ISSUE_DELAYED, "later"};
  auto all = reader();
  EXPECT_EQ(refreshed(all), "us/a us/b ");
  EXPECT_EQ(held(all), "");
  EXPECT_EQ(refreshed(all), "") << "not at once";
  host_.advance(std::chrono::seconds(6));
  EXPECT_EQ(refreshed(all), "us/a us/b ");
  says_ = {DAVIT_ISSUE_HELD, "no"};
  host_.advance(std::chrono::seconds(6));
  EXPECT_EQ(refreshed(all), "us/a us/b ");
  EXPECT_EQ(held(all), "us/a us/b ");
  host_.advance(std::chrono::seconds(6));
  EXPECT_EQ(refreshed(all), "");
}

}  // namespace
}  // namespace davit::desired
