// Each setting of the applier that says how fast or how patient it is does what README.md says: two
// values make a difference that can be seen.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* nine_replicas = R"({"spec":{"replicas":9}})";

testing::Config config(const char* name, int64_t value) {
  return {{name, value}};
}

// An edit of what has just been put right is put right after the upper half of `wait`.
void expect_repair_waits(World& w, std::chrono::milliseconds wait) {
  w.edit("web", nine_replicas);
  w.wait(wait / 2 - 250ms);
  EXPECT_EQ(w.replicas("web"), 9) << wait.count();
  w.wait(wait);
  EXPECT_EQ(w.replicas("web"), 2) << wait.count();
}

TEST(ApplierSettings, ARecordThatFailsIsTriedAgainAsOftenAsRetryMostSays) {
  for (const auto& [most, tries] : {std::pair{int64_t{1'000}, 60.0}, {int64_t{30'000}, 5.0}}) {
    World w({{"retry_first_ms", int64_t{1'000}}, {"retry_most_ms", most}});
    w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
      if (q.verb != DAVIT_VERB_APPLY) return std::nullopt;
      return refusal(410, "Expired", "not now");
    };
    w.begin(true);
    w.apply("web", 1);
    w.wait(60s);
    EXPECT_GE(w.count("retries"), tries) << most;
    EXPECT_LE(w.count("retries"), 2 * tries) << most << ": a wait is at least half of it";
  }
}

TEST(ApplierSettings, TheFieldManagerIsTheOneThatIsNamed) {
  World w({{"field_manager", std::string("edge")}});
  std::set<std::string> managers;
  w.front().policy = [&](const cluster::Request& q) -> std::optional<cluster::Response> {
    for (const auto& [key, value] : q.query) {
      if (key == "fieldManager") managers.insert(value);
    }
    return std::nullopt;
  };
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_EQ(managers, std::set<std::string>{"edge"});
}

TEST(ApplierSettings, WatchCreditIsHowManyEventsMayBeUnderWay) {
  World w(config("watch_credit", 7));
  w.blind();  // the credit of a watch that shows nothing stays as it was given
  w.restart();
  w.begin(true);
  w.wait(0ms);
  EXPECT_EQ(w.front().withheld(), std::set<uint32_t>{7});
}

TEST(ApplierSettings, AnApplyWaitsForTheFirstPictureAsLongAsSyncWaitSays) {
  for (const auto wait : {1'000ms, 20'000ms}) {
    World w(config("sync_wait_ms", wait.count()));
    w.blind();
    w.restart();
    w.begin(true);
    w.apply("web", 10);
    w.wait(wait - 500ms);
    EXPECT_EQ(w.outcome(10), "") << wait.count();
    w.wait(1s);
    EXPECT_EQ(w.outcome(10), "done") << wait.count();
  }
}

TEST(ApplierSettings, ARecordRestsAfterATripAsLongAsRestSays) {
  for (const auto rest : {100ms, 10'000ms}) {
    World w(config("rest_ms", rest.count()));
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait(30s);
    w.edit("web", nine_replicas);  // is put right, and rests
    w.wait(0ms);
    EXPECT_EQ(w.replicas("web"), 2) << rest.count();
    const double before = w.count("reconciliations");
    w.edit("web", R"({"metadata":{"labels":{"more":"of-others"}}})");
    w.wait(rest / 2);
    EXPECT_EQ(w.count("reconciliations"), before) << rest.count();
    w.wait(rest);
    EXPECT_GT(w.count("reconciliations"), before) << rest.count();
  }
}

TEST(ApplierSettings, ARequestIsSlowAfterSlowAfter) {
  for (const auto slow : {1'000ms, 10'000ms}) {
    World w(config("slow_after_ms", slow.count()));
    w.front().hangs = [](const cluster::Request& q) {
      return q.verb == DAVIT_VERB_APPLY && q.ns == "stuck";
    };
    w.begin(true);
    for (uint64_t n = 1; n <= 50; ++n)
      w.apply("web" + std::to_string(n), Version(n), {.ns = "stuck"});
    w.apply("other", 51);
    w.wait(slow - 500ms);
    EXPECT_EQ(w.outcome(51), "") << slow.count();
    w.wait(2s);
    EXPECT_EQ(w.outcome(51), "done") << slow.count();
    w.front().release();
    w.wait(60s);
  }
}

TEST(ApplierSettings, TheSecondRepairInARowWaitsAsLongAsRepairFirstSays) {
  for (const auto first : {1'000ms, 20'000ms}) {
    World w(
        {{"repair_first_ms", int64_t{first.count()}}, {"repair_most_ms", int64_t{first.count()}}});
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait();
    w.edit("web", nine_replicas);
    w.wait(200ms);
    EXPECT_EQ(w.replicas("web"), 2) << "the first is immediate";
    expect_repair_waits(w, first);
  }
}

TEST(ApplierSettings, RepairsNeverWaitLongerThanRepairMostSays) {
  for (const auto most : {1'000ms, 40'000ms}) {
    World w({{"repair_first_ms", int64_t{1'000}}, {"repair_most_ms", int64_t{most.count()}}});
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait();
    for (int i = 0; i < 10; ++i) {
      w.edit("web", nine_replicas);
      for (auto waited = 0ms; w.replicas("web") == 9 && waited <= most; waited += 100ms)
        w.wait(100ms);
    }
    expect_repair_waits(w, most);
  }
}

TEST(ApplierSettings, RepairsAreForgottenAfterRepairQuiet) {
  for (const auto& [quiet, immediate] :
       {std::pair{int64_t{30'000}, true}, {int64_t{900'000}, false}}) {
    World w({{"repair_first_ms", int64_t{20'000}}, {"repair_quiet_ms", quiet}});
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait();
    for (int i = 0; i < 3; ++i) {
      w.edit("web", nine_replicas);
      w.wait(60s);  // longer than any of these waits
    }
    w.wait(120s);
    w.edit("web", nine_replicas);
    w.wait(200ms);
    const bool mended = w.replicas("web") == 2;
    w.edit("web", nine_replicas);
    w.wait(200ms);
    EXPECT_TRUE(mended);
    EXPECT_EQ(w.replicas("web"), 9) << "the second in a row waits";
    w.wait(25s);
    EXPECT_EQ(w.replicas("web") == 2, immediate) << "by the first wait, or by a longer one";
  }
}

TEST(ApplierSettings, ARecordIsContestedAfterRepairWarnAfter) {
  for (const int64_t after : {1, 3}) {
    World w({{"repair_first_ms", int64_t{1}},
             {"repair_most_ms", int64_t{1}},
             {"repair_warn_after", after}});
    w.begin(true);
    w.apply("web", 10, {2});
    w.wait();
    for (int64_t repair = 1; repair <= after; ++repair) {
      EXPECT_FALSE(w.issues.contains("web")) << after;
      w.edit("web", nine_replicas);
      w.wait();
    }
    EXPECT_EQ(w.issues["web"], "contested") << after;
  }
}

}  // namespace
}  // namespace davit::applier::test
