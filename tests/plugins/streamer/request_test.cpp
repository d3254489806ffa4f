#include <gtest/gtest.h>

#include <ctrl/v1/cluster.pb.h>
#include <davit/v1/agent.pb.h>

#include "request.hpp"

namespace davit::streamer {
namespace {

TEST(Request, WatchNamesKindsAndTheirCursors) {
  v1::WatchRequest message;
  auto* s = message.add_subscriptions();
  s->set_kind("deployment");
  s->mutable_cursor()->set_incarnation(7);
  s->mutable_cursor()->set_version(12);
  message.add_subscriptions()->set_kind("sentinel");
  auto parsed = parse_watch(message.SerializeAsString(), "eu");
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[0].topic, (Topic{"deployment", "eu"}));
  EXPECT_EQ((*parsed)[0].cursor, (Cursor{7, 12}));
  EXPECT_EQ((*parsed)[1].cursor, Cursor{});
}

TEST(Request, WatchWithoutKindsWithOneTwiceOrMalformedIsRefused) {
  v1::WatchRequest none;
  EXPECT_EQ(parse_watch(none.SerializeAsString(), "eu").error().code, Code::invalid_argument);
  v1::WatchRequest twice;
  twice.add_subscriptions()->set_kind("a");
  twice.add_subscriptions()->set_kind("a");
  EXPECT_EQ(parse_watch(twice.SerializeAsString(), "eu").error().message,
            "kind \"a\" is named twice");
  EXPECT_EQ(parse_watch("\x0a\xff", "eu").error().code, Code::invalid_argument);
}

// A server that streamed its own region instead would be believed.
TEST(Request, WatchOfARegionOtherThanTheCallsIsRefused) {
  v1::WatchRequest message;
  message.add_subscriptions()->set_kind("deployment");
  message.mutable_subscriptions(0)->set_region("eu");
  EXPECT_TRUE(parse_watch(message.SerializeAsString(), "eu").ok());
  message.add_subscriptions()->set_kind("sentinel");
  message.mutable_subscriptions(1)->set_region("us");
  const auto parsed = parse_watch(message.SerializeAsString(), "eu");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, Code::unimplemented);
  EXPECT_EQ(
      parsed.error().message,
      "this server does not serve region \"us\" in a call of region \"eu\": call once for each "
      "region");
}

TEST(Request, WatchThatRequiresWhatIsNotKnownIsRefusedByTheWord) {
  v1::WatchRequest message;
  message.add_subscriptions()->set_kind("deployment");
  message.add_features("telepathy");
  EXPECT_TRUE(parse_watch(message.SerializeAsString(), "eu").ok()) << "it is only offered";
  message.add_required_features("telepathy");
  const auto parsed = parse_watch(message.SerializeAsString(), "eu");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, Code::unimplemented);
  EXPECT_EQ(parsed.error().where, "required_features");
  EXPECT_EQ(parsed.error().message,
            "\"telepathy\" is not known to this server: upgrade the server before its peers");
}

TEST(Request, AllCtrlWatchesHaveTheSameShape) {
  ::ctrl::v1::WatchSentinelsRequest message;
  message.set_region("ignored");
  message.set_version_last_seen(99);
  auto parsed = parse_ctrl_watch("sentinel", message.SerializeAsString(), "eu");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)[0].topic, (Topic{"sentinel", "eu"}));
  EXPECT_EQ((*parsed)[0].cursor.version, Version(99));
  EXPECT_FALSE(parse_ctrl_watch("sentinel", "\x12\x05", "eu").ok());
  EXPECT_FALSE(parse_ctrl_watch("sentinel", "\x12\x01x", "eu")
                   .ok());  // a string where the version should be
}

TEST(Request, CtrlPointQueriesNeedAnId) {
  ::ctrl::v1::GetDesiredDeploymentStateRequest message;
  EXPECT_EQ(parse_ctrl_get(message.SerializeAsString()).error().code, Code::invalid_argument);
  message.set_deployment_id("d_1");
  EXPECT_EQ(*parse_ctrl_get(message.SerializeAsString()), "d_1");
  EXPECT_EQ(parse_ctrl_get("\x0a\x02\xc3(").error().message, "the request cannot be decoded");
}

}  // namespace
}  // namespace davit::streamer
