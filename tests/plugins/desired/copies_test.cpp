// Backup and Verify: real store, fake transport.
#include <davit/v1/operator.pb.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

TEST(Copies, BackupAndVerifySayWhatTheyFound) {
  const testing::TemporaryDirectory directory;
  testing::ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE, {});
  rig.up();
  rig.put("a");
  const auto call = [&](const std::string& method,
                        const google::protobuf::Message& request) -> davit_rpc_call& {
    auto& c = rig.rpc.call("davit.v1.OperatorService/" + method, request.SerializeAsString(), "");
    rig.host.run();
    return c;
  };
  v1::BackupRequest backup;
  backup.set_path(directory.path() + "/copy");
  auto& copied = call("Backup", backup);
  ASSERT_FALSE(copied.messages.empty()) << copied.end->message;
  v1::BackupResponse made;
  ASSERT_TRUE(made.ParseFromString(copied.messages.back()));
  EXPECT_TRUE(made.complete());
  EXPECT_EQ(made.version(), 1u);
  EXPECT_EQ(made.bytes_done(), made.bytes_total());
  for (const std::string& path : {std::string(), backup.path()}) {
    v1::VerifyRequest verify;
    verify.set_path(path);
    auto& verified = call("Verify", verify);
    ASSERT_FALSE(verified.messages.empty()) << verified.end->message;
    v1::VerifyResponse whole;
    ASSERT_TRUE(whole.ParseFromString(verified.messages.back()));
    EXPECT_TRUE(whole.complete());
    EXPECT_EQ(whole.version(), 1u);
  }
  auto& again = call("Backup", backup);
  EXPECT_EQ(again.end->code, Code::already_exists);
}

}  // namespace
}  // namespace davit::desired
