#include <ctrl/v1/cluster.pb.h>
#include <davit/v1/agent.pb.h>

#include <gtest/gtest.h>

#include "batch.hpp"
#include "wire/fields.hpp"

namespace davit::watcher {
namespace {

Buffer encode(const google::protobuf::MessageLite& m) {
  return Buffer::of(m.SerializeAsString());
}

TEST(Fields, AreThoseOfTheGeneratedCode) {
  ctrl::v1::DeploymentState state;
  state.mutable_apply()->set_k8s_name("web");
  state.set_version(300);
  std::string seen;
  EXPECT_TRUE(wire::each_field(state.SerializeAsString(), [&](const wire::Field& f) {
    seen += std::to_string(f.number) + "=" + std::to_string(f.integer) + "/" +
            std::to_string(f.bytes.size()) + " ";
  }));
  EXPECT_EQ(seen, "1=0/5 3=300/0 ");
}

TEST(Fields, WriteWhatTheGeneratedCodeReads) {
  std::string message;
  wire::put_bytes(message, 1, "eu");
  wire::put_integer(message, 2, 18446744073709551615u);
  ctrl::v1::WatchDeploymentsRequest request;
  ASSERT_TRUE(request.ParseFromString(message));
  EXPECT_EQ(request.region(), "eu");
  EXPECT_EQ(request.version_last_seen(), 18446744073709551615u);
}

TEST(Fields, RefuseWhatIsCutOff) {
  ctrl::v1::DeploymentState state;
  state.mutable_apply()->set_k8s_name("web");
  const std::string whole = state.SerializeAsString();
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(wire::each_field(whole.substr(0, size), [](const wire::Field&) {})) << size;
  }
}

TEST(DavitV1, AsksWithItsPosition) {
  v1::WatchRequest request;
  const Buffer b = davit_v1("deployment", "eu", "agent-1").request({3, 77});
  ASSERT_TRUE(request.ParseFromArray(b.view().data(), static_cast<int>(b.size())));
  ASSERT_EQ(request.subscriptions_size(), 1);
  EXPECT_EQ(request.subscriptions(0).kind(), "deployment");
  EXPECT_EQ(request.subscriptions(0).cursor().incarnation(), 3u);
  EXPECT_EQ(request.subscriptions(0).cursor().version(), 77u);
  EXPECT_EQ(request.agent(), "agent-1");
  EXPECT_TRUE(request.software().starts_with("davit ")) << request.software();
}

TEST(DavitV1, ReadsAppliesDeletesHoldsAndTheMark) {
  v1::Frame frame;
  frame.set_kind("deployment");
  auto add = [&](uint64_t version) -> v1::Record& {
    auto& r = *frame.add_records();
    r.set_id("d" + std::to_string(version));
    r.set_namespace_("ns");
    r.set_name("n" + std::to_string(version));
    r.set_version(version);
    return r;
  };
  add(1).set_apply("payload");
  add(2).set_delete_(true);
  add(3).set_hold("paused");
  add(4);
  frame.mutable_bookmark()->set_type(v1::Bookmark::TYPE_SNAPSHOT_END);
  frame.mutable_bookmark()->mutable_at()->set_version(9);
  frame.mutable_bookmark()->set_live_count(3);

  auto batch = davit_v1("deployment", "eu", "a").decode(encode(frame));
  ASSERT_TRUE(batch.ok());
  ASSERT_EQ(batch->items.size(), 4u);
  EXPECT_EQ(batch->items[0].change.type, sink::ChangeType::apply);
  EXPECT_EQ(batch->items[0].change.payload.view(), "payload");
  EXPECT_EQ(batch->items[0].change.key, (Key{"deployment", "eu", "d1"}));
  EXPECT_EQ(batch->items[1].change.type, sink::ChangeType::remove);
  EXPECT_EQ(batch->items[2].change.type, sink::ChangeType::hold);
  EXPECT_EQ(batch->items[2].change.payload.view(), "paused");
  EXPECT_EQ(batch->items[3].change.type, sink::ChangeType::hold)
      << "what is not understood is not touched";
  ASSERT_TRUE(batch->mark);
  EXPECT_EQ(batch->mark->type, Mark::Type::snapshot_end);
  EXPECT_EQ(batch->mark->live_count, 3u);
}

TEST(DavitV1, ADeleteNamesItsRecordByItsNameOrItsId) {
  v1::Frame frame;
  frame.set_kind("deployment");
  auto& of_id = *frame.add_records();
  of_id.set_id("d1");
  of_id.set_delete_(true);
  frame.add_records()->set_delete_(true);
  auto batch = davit_v1("deployment", "eu", "a").decode(encode(frame));
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->items[0].change.key.id, "d1");
  EXPECT_EQ(batch->items[0].fault, "");
  EXPECT_NE(batch->items[1].fault, "");
}

TEST(DavitV1, IgnoresFieldsAndBookmarksThatItDoesNotKnow) {
  v1::Frame frame;
  frame.set_kind("deployment");
  auto& r = *frame.add_records();
  r.set_id("d1");
  r.set_apply("x");
  frame.mutable_bookmark()->set_type(static_cast<v1::Bookmark::Type>(99));
  frame.mutable_bookmark()->mutable_at()->set_version(9);
  for (google::protobuf::Message* m :
       std::initializer_list<google::protobuf::Message*>{&frame, &r, frame.mutable_bookmark()})
    m->GetReflection()->MutableUnknownFields(m)->AddLengthDelimited(1000)->assign("later");
  auto batch = davit_v1("deployment", "eu", "a").decode(encode(frame));
  ASSERT_TRUE(batch.ok());
  ASSERT_EQ(batch->items.size(), 1u);
  EXPECT_EQ(batch->items[0].change.type, sink::ChangeType::apply);
  EXPECT_FALSE(batch->mark) << "the cursor stays, and nothing is pruned";
}

TEST(DavitV1, ReadsStateAndAnnotations) {
  v1::Frame frame;
  frame.set_kind("deployment");
  auto& r = *frame.add_records();
  r.set_id("d1");
  r.set_apply("x");
  r.set_state("draining");
  (*r.mutable_annotations())["b"] = "2";
  (*r.mutable_annotations())["a"] = "1";
  auto batch = davit_v1("deployment", "eu", "a").decode(encode(frame));
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->items[0].change.state, "draining");
  EXPECT_EQ(batch->items[0].change.annotations, (Pairs{{"a", "1"}, {"b", "2"}}));
}

TEST(DavitV1, ReadsTheEndOfAKind) {
  v1::Frame frame;
  frame.set_kind("deployment");
  frame.mutable_end()->set_code(DAVIT_UNAVAILABLE);
  frame.mutable_end()->set_message("no store");
  frame.mutable_end()->set_retry_after_ms(20'000);
  auto batch = davit_v1("deployment", "eu", "a").decode(encode(frame));
  ASSERT_TRUE(batch.ok() && batch->end);
  EXPECT_EQ(batch->end->code, Code::unavailable);
  EXPECT_EQ(batch->end->message, "no store");
  EXPECT_EQ(batch->end->trailers, (Pairs{{"retry-after-ms", "20000"}}));
  for (const int32_t odd : {0, -1, 17, 99}) {
    frame.mutable_end()->set_code(odd);
    EXPECT_EQ(davit_v1("deployment", "eu", "a").decode(encode(frame))->end->code, Code::unknown)
        << odd;
  }
}

TEST(DavitV1, RefusesAnotherRegionsFrame) {
  v1::Frame frame;
  frame.set_kind("deployment");
  const auto dialect = davit_v1("deployment", "eu", "a");
  frame.set_region("eu");
  EXPECT_TRUE(dialect.decode(encode(frame)).ok());
  frame.set_region("us");
  EXPECT_EQ(dialect.decode(encode(frame)).error().message,
            "the peer sent a frame of region \"us\"");
}

TEST(DavitV1, RefusesAnotherKindsFrameAndGarbage) {
  v1::Frame frame;
  frame.set_kind("sentinel");
  const auto dialect = davit_v1("deployment", "eu", "a");
  EXPECT_FALSE(dialect.decode(encode(frame)).ok());
  EXPECT_FALSE(dialect.decode(Buffer::of("\xff\xff\xff")).ok());
}

}  // namespace
}  // namespace davit::watcher
