// Server reflection as grpcurl and the like use it, in both versions.
#include <davit_reflection_v1_descriptors.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>

#include "codec/schema.hpp"
#include "rpc/own/descriptors.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

namespace pb = google::protobuf;
using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

pb::FileDescriptorSet set_of(const char* text) {
  pb::FileDescriptorSet set;
  EXPECT_TRUE(pb::TextFormat::ParseFromString(text, &set));
  return set;
}

const pb::FileDescriptorSet& widgets() {
  static const pb::FileDescriptorSet set = set_of(R"(
    file { name: "widget/size.proto" package: "widget"
           enum_type { name: "Size" value { name: "SMALL" number: 0 } } }
    file { name: "widget/widget.proto" package: "widget.v1" dependency: "widget/size.proto"
           message_type { name: "Widget"
             field { name: "name" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
             nested_type { name: "Part" }
             extension_range { start: 100 end: 200 } }
           message_type { name: "Request" }
           extension { name: "colour" number: 100 extendee: ".widget.v1.Widget" type: TYPE_STRING
                       label: LABEL_OPTIONAL }
           service { name: "Widgets" method { name: "Get" input_type: ".widget.v1.Request"
                                              output_type: ".widget.v1.Widget" } } })");
  return set;
}

std::vector<std::string> names(const Descriptors::Files& files) {
  std::vector<std::string> out;
  for (const auto& bytes : files) {
    pb::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    out.push_back(file.name());
  }
  return out;
}

using Names = std::vector<std::string>;

TEST(Descriptors, FindEverySymbolWithWhatItsFileImports) {
  Descriptors d;
  ASSERT_TRUE(d.add(widgets().SerializeAsString()).ok());
  const Names both = {"widget/widget.proto", "widget/size.proto"};
  for (const char* symbol : {"widget.v1.Widgets", "widget.v1.Widgets.Get", "widget.v1.Widget",
                             "widget.v1.Widget.name", "widget.v1.Widget.Part", "widget.v1.colour"})
    EXPECT_EQ(names(d.symbol(symbol)), both) << symbol;
  for (const char* symbol : {"widget.Size", "widget.SMALL"})
    EXPECT_EQ(names(d.symbol(symbol)), Names{"widget/size.proto"}) << symbol;
  for (const char* symbol : {"", "widget.v1", "widget.v1.Widge", ".widget.v1.Widget"})
    EXPECT_TRUE(d.symbol(symbol).empty()) << symbol;
  EXPECT_EQ(names(d.file("widget/size.proto")), Names{"widget/size.proto"});
  EXPECT_TRUE(d.file("size.proto").empty());
}

TEST(Descriptors, KnowExtensions) {
  Descriptors d;
  ASSERT_TRUE(d.add(widgets().SerializeAsString()).ok());
  EXPECT_EQ(d.extension("widget.v1.Widget", 100).size(), 2u);
  EXPECT_TRUE(d.extension("widget.v1.Widget", 101).empty());
  EXPECT_TRUE(d.extension("widget.v1.Nothing", 100).empty());
  EXPECT_EQ(*d.extensions_of("widget.v1.Widget"), std::vector<int32_t>{100});
  EXPECT_TRUE(d.extensions_of("widget.v1.Request")->empty());
  EXPECT_EQ(d.extensions_of("widget.v1.Nothing").error().code, Code::not_found);
}

TEST(Descriptors, KeepTheFirstOfTwoFilesOfOneName) {
  Descriptors d;
  ASSERT_TRUE(d.add(widgets().SerializeAsString()).ok());
  EXPECT_TRUE(d.add(widgets().SerializeAsString())->empty()) << "the same again";
  const auto other = set_of(R"(file { name: "widget/size.proto" package: "other" })");
  EXPECT_EQ(*d.add(other.SerializeAsString()), Names{"widget/size.proto"});
  EXPECT_FALSE(d.symbol("widget.Size").empty());
  EXPECT_EQ(d.add("\xff").error().code, Code::invalid_argument);
}

TEST(Descriptors, AFileThatImportsItselfEnds) {
  Descriptors d;
  const auto circle = set_of(R"(
    file { name: "a.proto" dependency: "b.proto" dependency: "gone.proto" }
    file { name: "b.proto" dependency: "a.proto" })");
  ASSERT_TRUE(d.add(circle.SerializeAsString()).ok());
  EXPECT_EQ(names(d.file("a.proto")), (Names{"a.proto", "b.proto"}));
}

struct Reflected : Rig {
  std::string set = widgets().SerializeAsString();
  Result<std::unique_ptr<davit_schema>> made =
      make_schema(view(davit_reflection_v1_descriptors()), {});
  const davit_schema& schema = **made;
  Reflected() {
    davit::rpc::Method m;
    m.path = "widget.v1.Widgets/Get";
    m.role = "agent";
    m.descriptor_set = {reinterpret_cast<const uint8_t*>(set.data()), set.size()};
    const auto served =
        serving().unary(m, [](Call, Buffer, Reply reply) { reply(std::string("ok")); });
    EXPECT_TRUE(served.ok());
  }
  static std::string path(const std::string& version = "v1") {
    return "grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo";
  }
  // Both as protobuf text; files by their number only.
  std::string ask(Stub::Talk& talk, const std::string& text) const {
    pb::Arena arena;
    auto* request = *new_message(schema, "grpc.reflection.v1.ServerReflectionRequest", arena);
    EXPECT_TRUE(pb::TextFormat::ParseFromString(text, request)) << text;
    talk.write(request->SerializeAsString());
    const auto bytes = talk.read();
    if (!bytes) return "end";
    auto answer =
        read_message(schema, "grpc.reflection.v1.ServerReflectionResponse", *bytes, arena);
    if (!answer.ok()) return answer.error().message;
    const auto* reflection = (*answer)->GetReflection();
    const auto* type = (*answer)->GetDescriptor();
    const auto& original =
        reflection->GetMessage(**answer, type->FindFieldByName("original_request"));
    EXPECT_EQ(original.SerializeAsString(), request->SerializeAsString());
    const auto* files = type->FindFieldByName("file_descriptor_response");
    if (reflection->HasField(**answer, files)) {
      const auto& response = reflection->GetMessage(**answer, files);
      const auto* field = response.GetDescriptor()->FindFieldByNumber(1);
      return std::to_string(response.GetReflection()->FieldSize(response, field)) + " files";
    }
    reflection->ClearField(*answer, type->FindFieldByName("original_request"));
    return (*answer)->ShortDebugString();
  }
};

TEST(Reflection, ListsWhatIsServedInBothVersions) {
  Reflected rig;
  rig.start("reflection = true");
  Stub stub(rig.address(), "agent-secret");
  for (const char* version : {"v1", "v1alpha"}) {
    Stub::Talk talk(stub, Reflected::path(version));
    EXPECT_EQ(rig.ask(talk, R"(host: "h" list_services: "")"),
              "valid_host: \"h\" list_services_response { "
              "service { name: \"davit.v1.TokenService\" } "
              "service { name: \"grpc.health.v1.Health\" } "
              "service { name: \"grpc.reflection.v1.ServerReflection\" } "
              "service { name: \"grpc.reflection.v1alpha.ServerReflection\" } "
              "service { name: \"widget.v1.Widgets\" } }");
    talk.half_close();
    EXPECT_FALSE(talk.read());
    EXPECT_TRUE(talk.finish().ok());
  }
}

TEST(Reflection, GivesFilesAndSaysWhatItDoesNotKnow) {
  Reflected rig;
  rig.start("reflection = true");
  Stub stub(rig.address(), "operator-secret");
  Stub::Talk talk(stub, Reflected::path());
  EXPECT_EQ(rig.ask(talk, R"(file_containing_symbol: "widget.v1.Widgets")"), "2 files");
  EXPECT_EQ(rig.ask(talk, R"(file_containing_symbol: "grpc.health.v1.Health.Watch")"), "1 files");
  EXPECT_EQ(rig.ask(talk, R"(file_by_filename: "widget/size.proto")"), "1 files");
  EXPECT_EQ(rig.ask(talk, R"(file_containing_extension {
              containing_type: "widget.v1.Widget" extension_number: 100 })"),
            "2 files");
  EXPECT_EQ(rig.ask(talk, R"(all_extension_numbers_of_type: "widget.v1.Widget")"),
            "all_extension_numbers_response { base_type_name: \"widget.v1.Widget\" "
            "extension_number: 100 }");
  const auto error = [](int code, const std::string& message) {
    return "error_response { error_code: " + std::to_string(code) + " error_message: \"" + message +
           "\" }";
  };
  EXPECT_EQ(rig.ask(talk, R"(file_containing_symbol: "no.Such")"),
            error(5, R"(symbol \"no.Such\" is not known here)"));
  EXPECT_EQ(rig.ask(talk, R"(file_by_filename: "no.proto")"),
            error(5, R"(file \"no.proto\" is not known here)"));
  EXPECT_EQ(rig.ask(talk, R"(file_containing_extension {
              containing_type: "widget.v1.Widget" extension_number: 7 })"),
            error(5, R"(extension 7 of \"widget.v1.Widget\" is not known here)"));
  EXPECT_EQ(rig.ask(talk, R"(all_extension_numbers_of_type: "no.Such")"),
            error(5, R"(message \"no.Such\" is not known here)"));
  EXPECT_EQ(rig.ask(talk, ""), error(3, "the request asks for nothing"));
}

TEST(Reflection, IsOffUnlessTheServerSaysSo) {
  Reflected rig;
  rig.server.configure(
      "[rpc.server.local]\nreflection = true\nlisten = \"unix:" + rig.folder.path("l.sock") +
      "\"\n[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n"
      "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"*\"]\nfile = \"" +
      rig.folder.path("agent.token") + "\"");
  rig.server.listen();
  Stub off(rig.address(), "agent-secret"), on("unix:" + rig.folder.path("l.sock"));
  Stub::Talk refused(off, Reflected::path());
  const auto status = refused.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(), "method " + Reflected::path() + " is not served here");
  Stub::Talk talk(on, Reflected::path());
  EXPECT_EQ(rig.ask(talk, R"(file_containing_symbol: "widget.v1.Widgets")"), "2 files");
}

TEST(Reflection, NeedsCredentialsAndRequestsThatAreSome) {
  Reflected rig;
  rig.start("reflection = true");
  Stub nobody(rig.address()), known(rig.address(), "agent-secret");
  Stub::Talk refused(nobody, Reflected::path());
  EXPECT_EQ(refused.finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  Stub::Talk broken(known, Reflected::path());
  broken.write("\x1a\x7f");
  EXPECT_EQ(broken.finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  Stub::Talk large(known, Reflected::path());
  large.write(std::string(100'000, 'x'));
  EXPECT_EQ(large.finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(Reflection, AServerThatGoesDownEndsIt) {
  Reflected rig;
  rig.start("reflection = true");
  Stub stub(rig.address(), "agent-secret");
  Stub::Talk talk(stub, Reflected::path());
  EXPECT_EQ(rig.ask(talk, R"(file_by_filename: "widget/size.proto")"), "1 files");
  rig.server.rpc.drain();
  EXPECT_FALSE(talk.read());
  EXPECT_EQ(talk.finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace davit::host
