// The host that tests run plugins in must itself keep the promises of abi/services.h.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "davit/kind.hpp"
#include "davit/settings.hpp"
#include "davit/testing/host.hpp"

namespace davit::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TestHost, ManualTimeStandsStillAndTimersFireInOrder) {
  TestHost host("x", {}, TestHost::Time::manual);
  std::string order;
  Timer second(host.host().strand()), first(host.host().strand()), never(host.host().strand());
  second.after(milliseconds(20), [&] { order += "2"; });
  first.after(milliseconds(10), [&] { order += "1"; });
  never.after(milliseconds(15), [&] { order += "x"; });
  never.cancel();
  const auto begin = host.now();
  host.run();
  EXPECT_EQ(order, "");
  host.advance(milliseconds(10));
  EXPECT_EQ(order, "1");
  host.advance(seconds(1));
  EXPECT_EQ(order, "12");
  EXPECT_EQ(host.now() - begin, milliseconds(1010));
}

// Or a test of such a plugin would never end.
TEST(TestHost, SaysThatManualTimeNeverMovesOn) {
  TestHost host("x", {}, TestHost::Time::manual);
  int left = 1'500'000;
  Timer timer(host.host().strand());
  std::function<void()> again = [&] {
    if (--left > 0) timer.after(milliseconds(0), again);
  };
  timer.after(seconds(1), again);
  try {
    host.advance(seconds(2));
    FAIL() << "it went on";
  } catch (const std::runtime_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("manual time stands still at 2")) << e.what();
  }
  EXPECT_GT(left, 0);
}

TEST(TestHost, RunUntilStopsAtTheFirstTimerThatDoesIt) {
  TestHost host("x", {}, TestHost::Time::manual);
  int fired = 0;
  Timer timer(host.host().strand());
  std::function<void()> again = [&] { ++fired, timer.after(seconds(1), again); };
  timer.after(seconds(1), again);
  const auto begin = host.now();
  EXPECT_TRUE(host.run_until([&] { return fired == 3; }, seconds(60)));
  EXPECT_EQ(host.now() - begin, seconds(3));
  EXPECT_FALSE(host.run_until([&] { return fired == 100; }, seconds(5)));
}

TEST(TestHost, TasksOfOneStrandNeverOverlapAndKeepTheirOrder) {
  TestHost host;
  const Strand strand = host.host().strand();
  std::atomic<int> inside{0}, overlaps{0}, done{0};
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    strand.post([&, i] {
      if (++inside != 1) ++overlaps;
      order.push_back(i);
      --inside;
      ++done;
    });
  }
  ASSERT_TRUE(host.run_until([&] { return done == 1000; }));
  EXPECT_EQ(overlaps, 0);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(TestHost, RealTimersFireAndBlockingTasksLeaveTheStrandsFree) {
  TestHost host;
  std::atomic<bool> fired{false}, go{false}, blocked{false};
  Timer timer(host.host().strand());
  host.host().blocking({}, [&] {
    while (!go) std::this_thread::yield();
    blocked = true;
  });
  const Strand strand = host.host().strand();
  strand.post([&] { timer.after(milliseconds(5), [&] { fired = true; }); });
  EXPECT_TRUE(host.run_until([&] { return fired.load(); }));
  EXPECT_FALSE(blocked);
  go = true;
  EXPECT_TRUE(host.run_until([&] { return blocked.load(); }));
}

TEST(TestHost, CancelsWaitingTimersWhenItGoes) {
  int fired = -1;
  {
    TestHost host;
    const Strand strand = host.host().strand();
    strand.exec()->timer(
        strand.get(), 1'000'000'000'000, [](void* arg, int32_t f) { *static_cast<int*>(arg) = f; },
        &fired);
  }
  EXPECT_EQ(fired, 0);
}

TEST(TestHost, ReadsSettingsAndReportsEveryFault) {
  TestHost host("x", {{"path", "/a"},
                      {"workers", 0},
                      {"tls.verify", false},
                      {"regions", {"eu", "us"}},
                      {"wrong", 1},
                      {"labels.app", "web"}});
  const Settings settings(host);
  EXPECT_EQ(settings.string("path"), "/a");
  EXPECT_EQ(settings.integer("workers", 4, 1, 64), 1) << "who reads it may compute with it";
  EXPECT_FALSE(settings.table("tls").boolean("verify", true));
  EXPECT_EQ(settings.strings("regions"), (std::vector<std::string>{"eu", "us"}));
  EXPECT_EQ(settings.table("labels").entries(), (Pairs{{"app", "web"}}));
  EXPECT_EQ(host.faults(), (std::vector<std::string>{
                               "test.toml:2: plugin.x.workers: must be between 1 and 64, not 0",
                               "test.toml:5: plugin.x.wrong: unknown key"}));
}

TEST(TestHost, GivesCredentialsFromTheTestAndFromFiles) {
  TestHost host;
  host.set_credential("token", "secret\n");
  auto own = host.host().credential("token");
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->view(), "secret");
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "other";
  auto file = host.host().credential(directory.path() + "/file");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->view(), "other");
  EXPECT_FALSE(host.host().credential("/no/such/file").ok());
}

TEST(TestHost, CountsMetricsAndKeepsTheLog) {
  TestHost host;
  const Host h = host;
  h.counter("items", "help", {{"kind", "a"}}).add(2);
  h.counter("items", "help", {{"kind", "a"}}).add();
  h.gauge("depth", "help").set(7);
  h.histogram("wait", "help").observe(milliseconds(3));
  EXPECT_EQ(host.metric("items", {{"kind", "a"}}), 3);
  EXPECT_EQ(host.metric("depth"), 7);
  EXPECT_EQ(host.metric("wait"), 1);
  h.warn("slow", {{"ms", "12"}});
  EXPECT_TRUE(host.logged("warn: slow ms=12"));
  h.health(DAVIT_HEALTH_DEGRADED, "why");
  EXPECT_EQ(host.health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_EQ(host.health_reason(), "why");
}

// Says which slots were entered.
struct SlowKind {
  kind::Described kept = [] {
    kind::Description d;
    d.kind = "slow";
    return kind::Described(d);
  }();
  mutable std::string entered{};

  const kind::Described& described() const { return kept; }
  Result<Named> identify(std::string_view) const { return entered += "identify ", Named{}; }
  Result<> validate(std::string_view) const { return entered += "validate ", Result<>(); }
  Result<kind::Class> classify(std::string_view, std::string_view) const {
    return entered += "classify ", kind::Class::apply;
  }
  Result<std::string> reconcile(std::string_view) const {
    return entered += "reconcile ", std::string("{}");
  }
  Result<Named> attribute(std::string_view) const { return entered += "attribute ", Named{}; }
};

TEST(TestHost, LetsNobodyCallAKindOnAStrand) {
  TestHost host("x", {}, TestHost::Time::manual);
  SlowKind kind;
  host.add_role("kind", DAVIT_KIND, reinterpret_cast<davit_instance*>(&kind),
                kind::Role::vtable<SlowKind>());
  const auto client = kind::Client::all(host).at(0);
  size_t answers = 0;
  const auto call_all = [&] {
    answers = client.identify("").ok() + client.validate("").ok() + client.classify("", "").ok() +
              client.reconcile("").ok() + client.attribute("").ok();
  };
  host.host().strand().post(call_all);
  host.run();
  EXPECT_EQ(answers, 0u);
  EXPECT_EQ(kind.entered, "");
  EXPECT_EQ(client.kind(), "slow") << "it may be asked who it is";
  host.host().blocking("kind", call_all);
  host.run();
  EXPECT_EQ(answers, 5u);
  EXPECT_EQ(kind.entered, "identify validate classify reconcile attribute ");
}

}  // namespace
}  // namespace davit::testing
