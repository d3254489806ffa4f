// The example in C, as the host sees it.
#include <gtest/gtest.h>
#include <davit/records.hpp>
#include <davit/testing/module.hpp>

namespace davit {
namespace {

using testing::Config;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

// The sink behind: keeps what reaches it.
struct Behind {
  std::vector<std::string> seen;
  bool refuses = false;

  static Behind& of(davit_instance* i) { return *reinterpret_cast<Behind*>(i); }
  davit_instance* self() { return reinterpret_cast<davit_instance*>(this); }
  static const davit_status_sink* vtable() {
    static const davit_status_sink table = {
        sizeof(davit_status_sink), 0,
        [](davit_instance* i, const davit_status* s, davit_error* e) -> int32_t {
          if (of(i).refuses) return fill(e, {Code::unimplemented, "no"});
          of(i).seen.push_back("status " + text(s->key.id));
          return DAVIT_OK;
        },
        [](davit_instance* i, davit_str region, const davit_kind_progress* p) {
          of(i).seen.push_back("cursor " + text(region) + " " + std::to_string(p->applied.version));
        },
        [](davit_instance* i, davit_str, const davit_issue* what) {
          of(i).seen.push_back("issue " + text(what->id) + " " + text(what->condition));
        }};
    return &table;
  }
};

class StatusTee : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = Loaded::open(STATUS_TEE);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    loaded_.emplace(std::move(*loaded));
  }
  // An instance in manual time, in front of `behind_`.
  void bring_up(Config config) {
    host_ = std::make_unique<TestHost>("tee", config, TestHost::Time::manual);
    host_->add_role("reporter", DAVIT_STATUS_SINK, behind_.self(), Behind::vtable());
    instance_ = std::make_unique<Instance>(loaded_->plugin(), *host_);
    const auto up = instance_->up();
    ASSERT_TRUE(up.ok()) << up.error().message;
    sink_ = instance_->role<davit_status_sink>(DAVIT_STATUS_SINK);
    ASSERT_NE(sink_, nullptr);
  }
  int32_t offer(const std::string& id, const std::string& health) {
    Status status;
    status.key = {"widget", "eu", id};
    status.health = health;
    const StatusView view(status);
    davit_error error{};
    return sink_->offer(instance_->get(), &view.abi, &error);
  }
  size_t summaries() const {
    size_t n = 0;
    for (const auto& line : host_->log()) n += line.message == "statuses passed on" ? 1 : 0;
    return n;
  }

  std::optional<Loaded> loaded_;
  Behind behind_;
  std::unique_ptr<TestHost> host_;
  std::unique_ptr<Instance> instance_;
  const davit_status_sink* sink_ = nullptr;
};

TEST_F(StatusTee, PassesARefusalBack) {
  bring_up({{"next", "reporter"}});
  EXPECT_EQ(offer("a", "healthy"), DAVIT_OK);
  behind_.refuses = true;
  EXPECT_EQ(offer("a", "healthy"), DAVIT_UNIMPLEMENTED);
}

TEST_F(StatusTee, PassesEverythingOn) {
  bring_up({{"next", "reporter"}});
  offer("a", "healthy");
  const KindProgress progress{"widget", {1, 17}};
  const auto abi_progress = to_abi(progress);
  sink_->advance(instance_->get(), str("eu"), &abi_progress);
  const Issue issue{"widget", "a", "ns", "name", 3, DAVIT_ISSUE_PARKED, "why"};
  const auto abi_issue = to_abi(issue);
  sink_->issue(instance_->get(), str("eu"), &abi_issue);
  EXPECT_EQ(behind_.seen, (std::vector<std::string>{"status a", "cursor eu 17", "issue a parked"}));
}

TEST_F(StatusTee, CountsByHealth) {
  bring_up({{"next", "reporter"}});
  offer("a", "healthy");
  offer("b", "healthy");
  offer("c", "unhealthy");
  offer("d", "no such word");
  const auto count = [&](const char* health) {
    return host_->metric("davit_status_tee_offered_total", {{"health", health}});
  };
  EXPECT_EQ(count("healthy"), 2);
  EXPECT_EQ(count("unhealthy"), 1);
  EXPECT_EQ(count("other"), 1);
  EXPECT_EQ(count("paused"), 0);
}

TEST_F(StatusTee, SaysSoOnceAnIntervalWhenThereWasSomething) {
  bring_up({{"next", "reporter"}, {"summary_interval_ms", 1000}});
  host_->advance(std::chrono::seconds(5));
  EXPECT_EQ(summaries(), 0u);
  offer("a", "healthy");
  offer("b", "healthy");
  host_->advance(std::chrono::seconds(5));
  EXPECT_EQ(summaries(), 1u);
  EXPECT_TRUE(host_->logged("statuses passed on total=2 since_last=2"));
}

TEST_F(StatusTee, SaysTheRestAtStopAndNothingAfterwards) {
  bring_up({{"next", "reporter"}, {"summary_interval_ms", 1000}});
  EXPECT_EQ(host_->health(), DAVIT_HEALTH_SERVING);
  offer("a", "healthy");
  ASSERT_TRUE(instance_->stop().ok());
  EXPECT_EQ(summaries(), 1u);
  host_->advance(std::chrono::seconds(5));
  EXPECT_EQ(summaries(), 1u);
}

TEST_F(StatusTee, RefusesToStartWithoutASinkBehindIt) {
  TestHost alone("tee", {}, TestHost::Time::manual);
  Instance nobody(loaded_->plugin(), alone);
  const auto missing = nobody.create();
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("key \"next\": is missing"), std::string::npos)
      << missing.error().message;

  TestHost wrong("tee", {{"next", "nowhere"}}, TestHost::Time::manual);
  Instance astray(loaded_->plugin(), wrong);
  EXPECT_FALSE(astray.up().ok());
}

}  // namespace
}  // namespace davit
