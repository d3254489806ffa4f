// The columns of a kind in the answers about it: real store, fake transport.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

class KindColumnsTest : public ::testing::Test {
 protected:
  KindColumnsTest() : rig_(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE) { rig_.up(); }

  davit_rpc_call& call(const std::string& method, const google::protobuf::Message& request) {
    auto& c = rig_.rpc.call("davit.v1.OperatorService/" + method, request.SerializeAsString(), "");
    rig_.host.run();
    return c;
  }
  // Of each answer of the call, in order: "SIZE /size integer 0".
  template <class Response>
  static std::vector<std::string> columns(davit_rpc_call& c) {
    std::vector<std::string> out;
    for (; !c.messages.empty(); c.messages.pop_front()) {
      Response answer;
      EXPECT_TRUE(answer.ParseFromString(c.messages.front()));
      std::string all;
      for (const auto& column : answer.columns())
        all += column.name() + " " + column.path() + " " + column.type() + " " +
               std::to_string(column.priority());
      out.push_back(all);
    }
    return out;
  }
  using Answers = std::vector<std::string>;

  testing::ServerRig rig_;
};

TEST_F(KindColumnsTest, OfTheSpecComeWithARecordAndWithAListOfOneKind) {
  rig_.put("a");
  v1::OperatorGetRequest get;
  get.mutable_key()->set_kind("widget");
  get.mutable_key()->set_region("eu");
  get.mutable_key()->set_id("a");
  EXPECT_EQ(columns<v1::OperatorGetResponse>(call("Get", get)), Answers{"SIZE /size integer 0"});
  v1::ListRequest list;
  EXPECT_EQ(columns<v1::ListResponse>(call("List", list)), Answers{""}) << "of several kinds";
  list.set_kind("widget");
  EXPECT_EQ(columns<v1::ListResponse>(call("List", list)), Answers{"SIZE /size integer 0"});
}

TEST_F(KindColumnsTest, OfTheDetailComeWithTheStatusOfOneKind) {
  rig_.put("a");
  v1::StatusRequest request;
  EXPECT_EQ(columns<v1::StatusResponse>(call("Status", request)), Answers{""});
  request.set_kind("widget");
  EXPECT_EQ(columns<v1::StatusResponse>(call("Status", request)), Answers{"MADE /made date 2"});
  const auto watched = columns<v1::StatusResponse>(call("WatchStatus", request));
  EXPECT_EQ(watched, Answers{"MADE /made date 2"});
  auto pages = columns<v1::StatusResponse>(call("ListStatus", request));
  ASSERT_GT(pages.size(), 1u);
  EXPECT_EQ(pages.front(), "MADE /made date 2");
  pages.erase(pages.begin());
  EXPECT_EQ(pages, Answers(pages.size())) << "once is enough";
}

TEST_F(KindColumnsTest, ComeOnceInAWatch) {
  rig_.put("a");
  v1::OperatorWatchRequest request;
  request.set_kind("widget");
  auto& c = call("Watch", request);
  rig_.put("b");
  rig_.host.advance(std::chrono::seconds(2));
  const Answers expected{"SIZE /size integer 0", ""};
  EXPECT_EQ(columns<v1::OperatorWatchResponse>(c), expected);
}

}  // namespace
}  // namespace davit::desired
