// Messages in JSON, by the Connect protocol.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/timestamp.pb.h>

#include "raw.hpp"
#include "rpc/connect/envelope.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;

std::string words() {
  google::protobuf::FileDescriptorSet set;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    file { name: "t.proto" package: "t.v1" syntax: "proto3"
      dependency: "google/protobuf/timestamp.proto"
      message_type { name: "Word"
        field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "text" }
        field { name: "at" number: 2 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp"
                label: LABEL_OPTIONAL json_name: "at" } }
      service { name: "S"
        method { name: "Talk" input_type: ".t.v1.Word" output_type: ".t.v1.Word"
                 server_streaming: true } } })",
                                                            &set));
  google::protobuf::Timestamp::descriptor()->file()->CopyTo(set.add_file());
  return set.SerializeAsString();
}

// A stream that says so much and ends well, all at once.
struct Talking : Rig {
  class Talk : public davit::rpc::Handler {
   public:
    Talk(Call c, std::string message) : call_(c), message_(std::move(message)) {}
    void on_message(Buffer) override {
      call_.write(message_);
      call_.finish({});
    }

   private:
    Call call_;
    const std::string message_;
  };
  const std::string set = words();
  explicit Talking(const std::string& message) {
    davit::rpc::Method m;
    m.path = "t.v1.S/Talk";
    m.request_type = m.response_type = "t.v1.Word";
    m.role = "agent";
    m.server_streams = true;
    m.descriptor_set = {reinterpret_cast<const uint8_t*>(set.data()), set.size()};
    const auto s = serving();
    const Host host = server.host();
    EXPECT_TRUE(s.serve(m, [s, host, message](Call c) {
                   s.accept(c, host.strand(), std::make_unique<Talk>(c, message));
                   c.read();
                 }).ok());
    start();
  }
  // The body of the answer.
  std::string answer() const {
    Raw raw(address());
    const auto head = envelope_head(0, 2);
    raw.send(
        "POST /t.v1.S/Talk HTTP/1.1\r\nhost: a\r\nconnection: close\r\n"
        "content-type: application/connect+json\r\nauthorization: Bearer agent-secret\r\n"
        "content-length: 7\r\n\r\n" +
        std::string(head.data(), head.size()) + "{}");
    const std::string all = raw.until("\r\n0\r\n\r\n");
    return all.substr(all.find("\r\n\r\n") + 4);
  }
};

TEST(ConnectJson, AMessageIsJsonAndTheEndFollows) {
  const Talking rig(std::string("\x0a\x02hi"));
  const std::string answer = rig.answer();
  EXPECT_NE(answer.find(R"({"text":"hi"})"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("error"), std::string::npos) << answer;
}

TEST(ConnectJson, AMessageThatHasNoJsonIsAnErrorThoughTheMethodHasEndedWell) {
  google::protobuf::Timestamp beyond_all_years;
  beyond_all_years.set_seconds(INT64_MAX);
  const std::string at = beyond_all_years.SerializeAsString();
  const Talking rig("\x12" + std::string(1, static_cast<char>(at.size())) + at);
  const std::string answer = rig.answer();
  EXPECT_NE(answer.find(R"("code":"internal","message":"the answer is no t.v1.Word)"),
            std::string::npos)
      << answer;
}

}  // namespace
}  // namespace davit::host
