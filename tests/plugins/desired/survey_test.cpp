// Reading the status of a store that misbehaves, or for a caller who has gone.
#include "survey.hpp"

#include <gtest/gtest.h>

#include <davit/testing/host.hpp>

namespace davit::desired {
namespace {

// Says that there is always more, and never moves on.
class StuckStore {
 public:
  static constexpr uint32_t max_group_records = 1;
  int pages = 0;

  Result<Head> head(const Op&) { return Head{{1, 10}, 0, 0}; }
  Result<Page> read(const Op&, const ReadRequest& request, const storage::VisitRecord&) {
    ++pages;
    return Page{
        true, advances ? request.cursor.version + 1 : request.cursor.version, {{1, 10}, 0, 0}};
  }
  Result<Head> get(const Op& op, const Query&, const storage::VisitRecord&) { return head(op); }
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>&) { return none(); }
  Result<> report(const Op&, const std::vector<Status>&) { return none(); }
  Result<uint64_t> statuses(const Op&, const Scope&, uint64_t after, uint32_t,
                            const storage::VisitStatus&) {
    return after;
  }
  Result<> progress(const Op&, const Progress&) { return none(); }
  Result<> agents(const Op&, const storage::VisitProgress&) { return {}; }
  Result<> maintain(const Op&, const storage::Maintain&) { return {}; }
  Result<> history(const Op&, const storage::VisitCursor&) { return {}; }

  bool advances = false;

 private:
  static Error none() { return {Code::unimplemented, "is not played", {}, {}}; }
};

class SurveyTest : public ::testing::Test {
 protected:
  Survey survey(GoOn go_on) {
    host_.add_service(DAVIT_COMMIT, &no_queue_);
    davit_ref ref{};
    ref.self = reinterpret_cast<davit_instance*>(&store_);
    ref.vtable = storage::Role::vtable<StuckStore>();
    return {storage::Client(host_.host(), ref), lag_, {}, std::move(go_on)};
  }
  testing::TestHost host_;
  davit_commit no_queue_{};
  StuckStore store_;
  Lag lag_;
};

TEST_F(SurveyTest, EndsWhenTheStoreDoesNotAdvance) {
  const auto r = survey([] { return true; }).refresh();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::internal);
  EXPECT_EQ(store_.pages, 1);
}

TEST_F(SurveyTest, EndsWhenItsCallerHasGone) {
  store_.advances = true;
  int asked = 0;
  const auto r = survey([&asked] { return ++asked < 5; }).refresh();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, Code::cancelled);
  EXPECT_EQ(store_.pages, 5);
}

}  // namespace
}  // namespace davit::desired
