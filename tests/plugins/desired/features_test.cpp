// What an operator's request says that its server must not ignore.
#include <davit/v1/operator.pb.h>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "fakes/server_rig.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

namespace pb = google::protobuf;

// Each method of the service, so that none that is added later is left out.
TEST(RequiredFeatures, AWordThatIsNotKnownIsRefusedByEveryMethod) {
  testing::ServerRig rig(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE);
  rig.up();
  rig.put("a");
  const Version before = rig.storage.head()->head.version;
  const auto* service =
      v1::ApplyRequest::descriptor()->file()->FindServiceByName("OperatorService");
  ASSERT_NE(service, nullptr);
  ASSERT_GE(service->method_count(), 13);
  for (int n = 0; n < service->method_count(); ++n) {
    const auto* method = service->method(n);
    const pb::Descriptor* type = method->input_type();
    const std::unique_ptr<pb::Message> request(
        pb::MessageFactory::generated_factory()->GetPrototype(type)->New());
    request->GetReflection()->AddString(request.get(), type->FindFieldByName("required_features"),
                                        "telepathy");
    if (method->name() == "Apply") {
      auto* d = static_cast<v1::ApplyRequest&>(*request).add_documents();
      d->set_kind("widget");
      d->set_region("eu");
      d->set_spec_json("{\"id\":\"b\",\"ns\":\"shop\",\"name\":\"b\",\"size\":1}");
    }
    if (method->name() == "Delete") {
      auto* key = static_cast<v1::DeleteRequest&>(*request).add_keys();
      key->set_kind("widget");
      key->set_region("eu");
      key->set_id("a");
    }
    auto& call = rig.rpc.call("davit.v1.OperatorService/" + std::string(method->name()),
                              request->SerializeAsString(), "");
    rig.host.run();
    ASSERT_TRUE(call.end) << method->name();
    EXPECT_EQ(call.end->code, Code::unimplemented) << method->name();
    EXPECT_EQ(call.end->message,
              "required_features: \"telepathy\" is not known to this server: upgrade the server "
              "before its peers")
        << method->name();
    EXPECT_TRUE(call.messages.empty()) << method->name();
  }
  EXPECT_EQ(rig.storage.head()->head.version, before) << "nothing is done";
}

}  // namespace
}  // namespace davit::desired
