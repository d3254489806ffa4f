// Reads of controllers over a store that hangs.
#include "controllers.hpp"

#include <gtest/gtest.h>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

using namespace std::chrono_literals;

// What the test does while a slot of the store has not returned.
class HungStore : public testing::EmptyStorage {
 public:
  std::function<void()> hangs = [] {};
  Result<Head> get(const Op& op, const GetRequest& q, const storage::VisitRecord& visit) {
    hangs();
    Record r;
    r.key = q.queries.at(0).key;
    visit(r);
    return head(op);
  }
  Result<Page> read(const Op& op, const ReadRequest&, const storage::VisitRecord&) {
    hangs();
    return Page{false, 0, *head(op)};
  }
};

class TimelyReadTest : public ::testing::Test {
 protected:
  TimelyReadTest()
      : client_(testing::client_of(host_, store_)),
        shared_(host_.host(), client_, {}, *Kinds::find(host_.host()), {}),
        controllers_(shared_) {}

  // Reads with an op that lives as long as the contract says: until the answer.
  void read(bool list, Operation op) {
    auto held = std::make_shared<std::optional<Operation>>(std::move(op));
    const auto done = [this, held](const Result<records::Found>& found) {
      answers_.push_back(found.ok() ? Code::ok : found.error().code);
      held->reset();
    };
    const Op caller = (*held)->op();
    if (list) {
      controllers_.list(caller, {}, done);
    } else {
      controllers_.get(caller, {{"widget", "eu", "a"}, {}, {}}, done);
    }
    host_.run();
  }

  testing::TestHost host_{"plugin", {}, testing::TestHost::Time::manual};
  HungStore store_;
  storage::Client client_;
  Shared shared_;
  Controllers controllers_;
  std::vector<Code> answers_;
};

TEST_F(TimelyReadTest, IsAnsweredAtItsDeadlineWhateverTheStoreDoes) {
  for (const bool list : {false, true}) {
    std::vector<Code> in_time;
    store_.hangs = [&] {
      host_.advance(2s);
      in_time = answers_;
    };
    read(list, Operation((host_.now() + 1s).count()));
    EXPECT_EQ(in_time, std::vector<Code>{Code::deadline_exceeded}) << list;
    EXPECT_EQ(answers_, in_time) << "and once";
    answers_.clear();
  }
}

TEST_F(TimelyReadTest, IsAnsweredWhenItsCallerGivesUp) {
  std::vector<Code> in_time;
  const Operation op;
  store_.hangs = [&] {
    op.cancel();
    host_.run();
    in_time = answers_;
  };
  read(true, op);
  EXPECT_EQ(in_time, std::vector<Code>{Code::cancelled});
  EXPECT_EQ(answers_, in_time);
}

TEST_F(TimelyReadTest, IsAnsweredWhenThePluginStops) {
  std::vector<Code> in_time;
  store_.hangs = [&] {
    shared_.operations.cancel();
    host_.run();
    in_time = answers_;
  };
  read(false, Operation());
  EXPECT_EQ(in_time, std::vector<Code>{Code::unavailable});
  EXPECT_EQ(answers_, in_time);
}

TEST_F(TimelyReadTest, IsAnsweredWithWhatTheStoreHas) {
  read(false, Operation((host_.now() + 1s).count()));
  read(true, Operation());
  host_.advance(1min);
  EXPECT_EQ(answers_, (std::vector<Code>{Code::ok, Code::ok}));
}

TEST_F(TimelyReadTest, OfACallThatIsOverBeginsNothing) {
  bool began = false;
  store_.hangs = [&] { began = true; };
  read(true, Operation(host_.now().count()));
  EXPECT_EQ(answers_, std::vector<Code>{Code::deadline_exceeded});
  EXPECT_FALSE(began);
}

}  // namespace
}  // namespace davit::desired
