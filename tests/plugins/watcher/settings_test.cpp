// Settings of the watcher as it is loaded, with values that are not the default.
#include <gtest/gtest.h>

#include "../fakes/fake_codec.hpp"
#include "../fakes/stop_running.hpp"
#include "../fakes/widget.hpp"
#include "fake_rpc.hpp"
#include "fake_sink.hpp"

namespace davit::watcher {
namespace {

using namespace std::chrono_literals;
using testing::FakeRpc;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

struct ListingSink : FakeSink {
  void begin(sink::Stream*, const sink::Begin&) { seen += "begin "; }
  bool offer(sink::Stream*, const sink::Change&) { return true; }
  void bookmark(sink::Stream*, const sink::Bookmark& b) { seen += b.quiet ? "quiet " : "mark "; }
};

// On ctrl.v1 a delete has fields.
struct ListedWidget : testing::Widget {
  using testing::Widget::Widget;
  Result<std::string> delete_message(const Named& n) const {
    return "{\"delete\":{\"name\":\"" + n.name + "\"}}";
  }
};

// What the sink hears of a peer of ctrl.v1 that says nothing: at once, just before `quiet` has
// passed, and thereafter.
std::vector<std::string> heard(int64_t setting, std::chrono::milliseconds quiet) {
  TestHost kind_host("widget", {}, TestHost::Time::manual);
  TestHost host(kind_host, "watcher",
                {{"server", "control"}, {"sink", "applier"}, {"listing_quiet_ms", setting}});
  FakeRpc rpc(host, "ctrl.v1");
  kind_host.add_service(DAVIT_CODEC, testing::fake_codec());
  host.add_service(DAVIT_CODEC, testing::fake_codec());
  ListingSink sink;
  add_sink(host, sink);
  Instance kind(davit::detail::Plugin<ListedWidget>::entry("kind_widget", "0", "test"), kind_host);
  EXPECT_TRUE(kind.up().ok());
  const auto module = *Loaded::open(WATCHER);
  Instance watcher(module.plugin(), host);
  const auto up = watcher.up();
  EXPECT_TRUE(up.ok()) << up.error().message;
  host.advance(0ns);
  std::vector<std::string> out{sink.take()};
  host.advance(quiet - 1ms);
  out.push_back(sink.take());
  host.advance(2s);  // it looks once a second
  out.push_back(sink.take());
  EXPECT_TRUE(testing::stop_running(watcher, host).ok());
  return out;
}

TEST(WatcherSettings, AListingIsOverAfterTheSilenceThatListingQuietSays) {
  using Heard = std::vector<std::string>;
  EXPECT_EQ(heard(5'000, 5s), (Heard{"begin ", "", "quiet "}));
  EXPECT_EQ(heard(120'000, 120s), (Heard{"begin ", "", "quiet "}));
  EXPECT_EQ(heard(0, 120s), (Heard{"begin ", "", ""})) << "never";
}

TEST(WatcherSettings, ABadValueIsNamed) {
  TestHost host("watcher", {{"server", "control"}, {"sink", "applier"}, {"listing_quiet_ms", -1}});
  const auto module = *Loaded::open(WATCHER);
  Instance watcher(module.plugin(), host);
  const auto created = watcher.create();
  ASSERT_FALSE(created.ok());
  EXPECT_NE(created.error().message.find("listing_quiet_ms"), std::string::npos)
      << created.error().message;
}

}  // namespace
}  // namespace davit::watcher
