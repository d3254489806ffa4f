#include "additions.hpp"

#include <gtest/gtest.h>

#include <davit/testing/host.hpp>

#include "fakes/fake_codec.hpp"

namespace davit::streamer {
namespace {

class AdditionsTest : public ::testing::Test {
 protected:
  AdditionsTest() {
    host_.add_service(DAVIT_CODEC, &counting());
    schema_ = *host_.host().schema({}, {});
  }

  // The fake codec, and how often it was asked.
  static inline int asked = 0;
  static const davit_codec& counting() {
    static const davit_codec codec = [] {
      davit_codec c = *testing::fake_codec();
      c.from_json = [](const davit_schema* s, davit_str type, davit_str json, const davit_sink* out,
                       davit_error* e) -> int32_t {
        ++asked;
        return testing::fake_codec()->from_json(s, type, json, out, e);
      };
      return c;
    }();
    return codec;
  }
  Result<std::string> encoded(const std::string& json) {
    return additions_.encoded(schema_, "Apply", json);
  }

  testing::TestHost host_;
  Schema schema_;
  Additions additions_;
};

TEST_F(AdditionsTest, EachTextIsEncodedOnce) {
  asked = 0;
  for (int record = 0; record < 100; ++record) {
    for (const char* json : {R"({"bounds":1})", R"({"bounds":2})"}) {
      ASSERT_TRUE(encoded(json).ok());
      EXPECT_EQ(*encoded(json), testing::fake_message(json));
    }
  }
  EXPECT_EQ(asked, 2);
}

TEST_F(AdditionsTest, WhatCannotBeEncodedIsAnErrorEachTime) {
  EXPECT_FALSE(encoded(R"({"unknown":1})").ok());
  EXPECT_FALSE(encoded(R"({"unknown":1})").ok());
}

TEST_F(AdditionsTest, AreBoundedWhateverIsAdded) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string json = "{\"port\":" + std::to_string(i) + "}";
    EXPECT_EQ(*encoded(json), testing::fake_message(json));
    EXPECT_LE(additions_.bytes(), 256u << 10);
  }
  const std::string large = R"({"text":")" + std::string(1 << 20, 'x') + "\"}";
  EXPECT_EQ(*encoded(large), testing::fake_message(large));
  EXPECT_LE(additions_.bytes(), 256u << 10);
}

}  // namespace
}  // namespace davit::streamer
