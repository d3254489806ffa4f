// The pages of ListStatus over a store whose history changes between two of them.
#include "status_pages.hpp"

#include <gtest/gtest.h>

#include <davit/v1/operator.pb.h>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

// Gives one status, and one record, a page. Each of the records has a status when `reported`.
class RestoredAmid : public testing::EmptyStorage {
 public:
  std::vector<std::string> ids{"a", "b", "c"};
  bool reported = true;
  std::function<void()> after_page = [] {};

  void restore(std::vector<std::string> has) {
    incarnation_ = Incarnation(incarnation_.value() + 1);
    ids = std::move(has);
  }

  Result<Head> head(const Op&) { return now(); }
  Result<Head> get(const Op&, const GetRequest& q, const storage::VisitRecord& visit) {
    for (const Query& one : q.queries) {
      for (size_t n = 0; n < ids.size(); ++n) {
        if (ids[n] == one.key.id) visit(record(n));
      }
    }
    return now();
  }
  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus& visit) {
    if (is_void(q.cursor)) return refused();
    const size_t n = reported ? q.cursor.version.value() : ids.size();
    if (n < ids.size()) {
      Status s;
      s.key = record(n).key;
      s.status_version = Version(n + 1);
      visit(s);
    }
    const StatusPage out{n + 1 < ids.size(), {incarnation_, Version(n + 1)}, now()};
    after_page();
    return out;
  }
  Result<Page> read(const Op&, const ReadRequest& q, const storage::VisitRecord& visit) {
    if (q.scope.region.empty()) return Page{false, now().head.version, now()};  // for the lag
    if (is_void(q.cursor)) return refused();
    const size_t n = q.cursor.version.value();
    if (n < ids.size()) visit(record(n));
    const Page out{n + 1 < ids.size(), Version(n + 1), now()};
    after_page();
    return out;
  }

  Result<> history(const Op&, const storage::VisitCursor& visit) {
    visit(now().head);
    return {};
  }

 private:
  Head now() const { return {{incarnation_, Version(ids.size())}, Version(ids.size()), 0}; }
  bool is_void(Cursor at) const { return at.version != 0 && at.incarnation != incarnation_; }
  static Error refused() { return {Code::out_of_range, "is of another history"}; }
  Record record(size_t n) const {
    Record out;
    out.key = {"widget", "eu", ids[n]};
    out.name = ids[n];
    out.state = "running";
    out.live = true;
    out.version = Version(n + 1);
    return out;
  }
  Incarnation incarnation_{1};
};

class StatusPagesTest : public ::testing::Test {
 protected:
  StatusPagesTest()
      : client_(testing::client_of(host_, store_)),
        shared_(host_.host(), client_, {}, *Kinds::find(host_.host()), {}) {}

  // The ids in the order in which they are named, or the error.
  std::string listed() {
    StatusPages pages(shared_, client_, {"", "eu", ""});
    std::string out;
    for (;;) {
      const auto next = pages.next();
      if (!next.ok()) return out + "error " + std::to_string(static_cast<int>(next.error().code));
      if (!*next) return out;
      v1::StatusResponse said;
      EXPECT_TRUE(said.ParseFromString(**next));
      for (const auto& o : said.objects()) out += o.id() + " ";
    }
  }
  // Restores the store once, after so many pages.
  void restore_after(int pages, std::vector<std::string> has) {
    store_.after_page = [this, pages, has]() mutable {
      if (--pages == 0) store_.restore(has);
    };
  }

  testing::TestHost host_{"plugin", {}, testing::TestHost::Time::manual};
  RestoredAmid store_;
  storage::Client client_;
  Shared shared_;
};

TEST_F(StatusPagesTest, BeginWithTheHistory) {
  StatusPages pages(shared_, client_, {"", "eu", ""});
  const auto first = pages.next();
  ASSERT_TRUE(first.ok() && *first);
  v1::StatusResponse said;
  ASSERT_TRUE(said.ParseFromString(**first));
  ASSERT_EQ(said.history_size(), 1);
  EXPECT_EQ(said.history(0).SerializeAsString(), said.head().SerializeAsString());
}

TEST_F(StatusPagesTest, NameEachObjectOnce) {
  EXPECT_EQ(listed(), "a b c ");
  store_.reported = false;
  EXPECT_EQ(listed(), "a b c ");
}

TEST_F(StatusPagesTest, GoOnWhenTheStoreIsRestoredAmidTheStatuses) {
  restore_after(2, {"a", "b", "c", "d"});
  EXPECT_EQ(listed(), "a b c d ");
}

TEST_F(StatusPagesTest, GoOnWhenTheStoreIsRestoredAmidTheRecords) {
  store_.reported = false;
  restore_after(3, {"x", "b", "y"});
  EXPECT_EQ(listed(), "a b x y ") << "what was named before is not named again";
}

TEST_F(StatusPagesTest, EndWhenTheHistoryChangesAllTheTime) {
  store_.after_page = [this] { store_.restore(store_.ids); };
  EXPECT_EQ(listed(), "a error 11");
}

}  // namespace
}  // namespace davit::desired
