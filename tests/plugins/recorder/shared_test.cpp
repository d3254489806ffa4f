// What the methods share, over a store whose reads of the agents the test watches.
#include "shared.hpp"

#include <future>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

// The real store. Before each read of the agents it calls `before_read`, which says whether the
// read succeeds.
class WatchedStore {
 public:
  explicit WatchedStore(davit_ref real) : ref_(real) {
    real_ = static_cast<const davit_storage*>(real.vtable);
    table_ = *real_;
    table_.agents = [](davit_instance* self, const davit_op* op, const davit_agent_read* request,
                       davit_visit_progress visit, void* ctx, davit_agent_page* page,
                       davit_error* error) -> int32_t {
      if (!before_read()) return DAVIT_UNAVAILABLE;
      return real_->agents(self, op, request, visit, ctx, page, error);
    };
    ref_.vtable = &table_;
  }
  ~WatchedStore() { before_read = nullptr; }
  davit_ref ref() const { return ref_; }

  static inline std::function<bool()> before_read;

 private:
  static inline const davit_storage* real_ = nullptr;  // the slot `agents` has no pointer of ours
  davit_storage table_{};
  davit_ref ref_;
};

class SharedTest : public ::testing::Test {
 protected:
  SharedTest()
      : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE),
        store_(rig_.store.ref(DAVIT_STORAGE)),
        shared_(rig_.host.host(), storage::Client(rig_.host.host(), store_.ref()),
                std::chrono::minutes(10), Limits{}) {
    WatchedStore::before_read = [this] {
      ++reads_;
      return true;
    };
  }
  Code progress(const std::string& agent, Epoch epoch, const Operation& caller = Operation()) {
    Code code = Code::internal;
    shared_.progress(
        caller, {"eu", agent, "davit", epoch, {}, {}, rig_.host.host().unix_ms()},
        [](Epoch) { return std::string(); },
        [&](const Result<std::string>& r) { code = r.ok() ? Code::ok : r.error().code; });
    return code;
  }

  // As a ctrl.v1 report asks for it.
  Epoch epoch_above(const std::string& region) {
    Epoch out{};
    shared_.knowing_epochs([&](const Result<>& known) {
      EXPECT_TRUE(known.ok());
      out = shared_.epoch_above(region);
    });
    rig_.host.run();
    return out;
  }

  testing::ServerRig rig_;
  WatchedStore store_;
  Shared shared_;
  int reads_ = 0;
};

// `reported` runs on the strand of a call, and with it on a thread of the host.
TEST_F(SharedTest, NoReportWaitsForAReadOfTheStore) {
  int waited = 0;
  std::vector<std::future<void>> reports;
  WatchedStore::before_read = [&] {
    ++reads_;
    reports.push_back(std::async(std::launch::async, [this] { shared_.reported("eu", 7); }));
    if (reports.back().wait_for(std::chrono::seconds(10)) != std::future_status::ready) ++waited;
    return true;
  };
  EXPECT_EQ(progress("a", 5), Code::ok);
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(waited, 0) << "while a newcomer was introduced";
  rig_.host.advance(std::chrono::seconds(2));
  EXPECT_EQ(progress("b", 6), Code::ok);
  EXPECT_EQ(reads_, 2);
  EXPECT_EQ(waited, 0);
  EXPECT_EQ(shared_.epoch_above("eu"), Epoch(9)) << "heard: b rises above the epoch of the report";
}

TEST_F(SharedTest, AProgressWhoseCallerHasGoneIsNotStored) {
  const Operation gone;
  gone.cancel();
  EXPECT_EQ(progress("a", 5, gone), Code::cancelled);
  size_t stored = 0;
  EXPECT_TRUE(rig_.storage.agents({}, [&](const davit_progress&) { return ++stored; }).ok());
  EXPECT_EQ(stored, 0u);
  EXPECT_EQ(progress("a", 5), Code::ok);
}

TEST_F(SharedTest, StopCancelsWhatSeveralCallsShare) {
  shared_.stop();
  rig_.host.run();
  EXPECT_EQ(progress("a", 5), Code::cancelled);
}

TEST_F(SharedTest, ReportsWithoutAnEpochReadTheAgentsOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(epoch_above("eu"), Epoch(0));
  EXPECT_EQ(reads_, 1);
}

TEST_F(SharedTest, AReadOfTheAgentsThatFailedIsRepeated) {
  ASSERT_EQ(progress("a", 5), Code::ok);
  rig_.host.advance(std::chrono::seconds(2));
  WatchedStore::before_read = [this] {
    ++reads_;
    return false;
  };
  EXPECT_EQ(progress("b", 6), Code::unavailable);
  EXPECT_EQ(progress("b", 6), Code::unavailable);
  EXPECT_EQ(reads_, 3);
  EXPECT_EQ(epoch_above("eu"), Epoch(6));
  EXPECT_EQ(reads_, 4) << "what was read before it is not all";
}

// A read that takes long, or never ends, keeps one thread of the storage's pool.
TEST_F(SharedTest, WhileTheAgentsAreReadNobodyKeepsAThread) {
  ASSERT_EQ(progress("known", 1), Code::ok);
  rig_.host.advance(std::chrono::seconds(2));
  Code newcomer = Code::internal, known = Code::internal;
  const auto said = [&](const std::string& agent, Epoch epoch, Code& code) {
    shared_.progress(
        Operation(), {"eu", agent, "davit", epoch, {}, {}, rig_.host.host().unix_ms()},
        [](Epoch) { return std::string(); },
        [&code](const Result<std::string>& r) { code = r.ok() ? Code::ok : r.error().code; });
  };
  Code first = Code::internal, meanwhile = Code::internal;
  WatchedStore::before_read = [&] {
    ++reads_;
    said("newcomer", 3, newcomer);
    said("known", 1, known);
    meanwhile = known;
    return true;
  };
  said("first", 2, first);
  EXPECT_EQ(meanwhile, Code::ok) << "it needs no read";
  EXPECT_EQ(first, Code::ok);
  EXPECT_EQ(newcomer, Code::internal) << "its turn is on the pool";
  WatchedStore::before_read = [this] {
    ++reads_;
    return true;
  };
  rig_.host.run();
  EXPECT_EQ(newcomer, Code::ok);
  EXPECT_EQ(reads_, 2) << "one read is enough for both";
}

TEST_F(SharedTest, OfAReadThatFailsAllWhoWaitAreTold) {
  Code first = Code::internal, second = Code::internal;
  const auto said = [&](const std::string& agent, Code& code) {
    shared_.progress(
        Operation(), {"eu", agent, "davit", 1, {}, {}, rig_.host.host().unix_ms()},
        [](Epoch) { return std::string(); },
        [&code](const Result<std::string>& r) { code = r.ok() ? Code::ok : r.error().code; });
  };
  WatchedStore::before_read = [&] {
    said("second", second);
    return false;
  };
  said("first", first);
  rig_.host.run();
  EXPECT_EQ(first, Code::unavailable);
  EXPECT_EQ(second, Code::unavailable);
}

}  // namespace
}  // namespace davit::recorder
