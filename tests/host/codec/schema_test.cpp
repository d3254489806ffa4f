// Loading descriptor sets, through the table that plugins see.
#include <google/protobuf/descriptor.pb.h>

#include <davit/host.hpp>

#include "codec/codec.hpp"
#include "fixture.hpp"

namespace davit::host {
namespace {

namespace pb = google::protobuf;

// A host that offers the codec and nothing else.
class Offer {
 public:
  explicit Offer(const davit_codec* codec) : codec_(codec) {
    host_.abi = {sizeof(davit_host), 0, str("test"), &query};
    host_.self = this;
  }
  const davit_host* host() const { return &host_.abi; }

 private:
  struct Host {
    davit_host abi;
    Offer* self;
  };
  static const void* query(const davit_host* h, davit_str id) {
    return view(id) == DAVIT_CODEC ? reinterpret_cast<const Host*>(h)->self->codec_ : nullptr;
  }
  Host host_{};
  const davit_codec* codec_;
};

std::string set_of(std::initializer_list<pb::FileDescriptorProto> files) {
  pb::FileDescriptorSet set;
  for (const auto& f : files) *set.add_file() = f;
  return set.SerializeAsString();
}

pb::FileDescriptorProto file(const std::string& name, std::initializer_list<const char*> imports) {
  pb::FileDescriptorProto f;
  f.set_name(name);
  f.set_syntax("proto3");
  f.add_message_type()->set_name("M" + name.substr(0, 1));
  for (const auto* i : imports) f.add_dependency(i);
  return f;
}

TEST(Schema, LoadsThroughTheAbiAndSharesEqualSets) {
  Codec codec;
  const Offer offer(codec.table());
  const auto load = [&](std::vector<davit_str> fields) {
    const davit_schema* out = nullptr;
    davit_error error{};
    EXPECT_EQ(codec.table()->load(offer.host(), codec_sample(), fields.data(), fields.size(), &out,
                                  &error),
              DAVIT_OK)
        << error.message;
    return out;
  };
  const auto a = str("sample.v1.Everything.policy"), b = str("sample.v1.Everything.healthcheck");
  EXPECT_EQ(load({a, b}), load({b, a}));
  EXPECT_NE(load({a, b}), load({a}));

  const davit::Schema schema(codec.table(), load({a, b}));
  EXPECT_EQ(*schema.to_json(everything, *schema.from_json(everything, R"({"policy":{"x":1}})")),
            R"({"policy":{"x":1}})");
  EXPECT_TRUE(schema.equal(everything, "\x08\x01", "\x08\x01"));
  const auto bad = schema.from_json(everything, R"({"i32":"x"})");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().where, "i32");
}

TEST(Schema, TakesFilesInAnyOrder) {
  EXPECT_TRUE(make_schema(set_of({file("a", {"b"}), file("b", {"c"}), file("c", {})}), {}).ok());
}

TEST(Schema, SaysWhatIsWrongWithASet) {
  const auto error = [](std::string_view set, std::vector<std::string> fields = {}) {
    const auto r = make_schema(set, fields);
    return r.ok() ? std::string("no error") : r.error().message;
  };
  EXPECT_EQ(error("nonsense"), "descriptor set: not a google.protobuf.FileDescriptorSet");
  EXPECT_EQ(error(set_of({file("a", {"b"})})),
            "descriptor set: \"b\" is imported but not in the set");
  EXPECT_EQ(error(set_of({file("a", {"b"}), file("b", {"a"})})),
            "descriptor set: \"a\" imports itself");
  auto twice = file("a", {});
  twice.add_message_type()->set_name("Ma");
  EXPECT_EQ(error(set_of({twice})), "descriptor set: a: Ma: \"Ma\" is already defined.");
  EXPECT_EQ(error(view(codec_sample()), {"sample.v1.Everything.text"}),
            "json field \"sample.v1.Everything.text\" is not a bytes field of the descriptor set");
  EXPECT_EQ(error(view(codec_sample()), {"sample.v1.Nothing.policy"}),
            "json field \"sample.v1.Nothing.policy\" is not a bytes field of the descriptor set");
}

TEST(Schema, NeverTouchesThePoolOfGeneratedCode) {
  pb::FileDescriptorProto clash =
      file("google/protobuf/descriptor.proto", {});  // generated code has this file
  ASSERT_TRUE(make_schema(set_of({clash}), {}).ok());
  EXPECT_EQ(pb::DescriptorPool::generated_pool()->FindMessageTypeByName("sample.v1.Everything"),
            nullptr);
}

}  // namespace
}  // namespace davit::host
