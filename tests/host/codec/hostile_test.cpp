// Random input: nothing may crash, and what is accepted must survive the way there and back.
// protobuf's own converter is the judge of what our JSON says.
#include <google/protobuf/util/json_util.h>

#include <random>

#include "codec/json.hpp"
#include "fixture.hpp"

namespace davit::host {
namespace {

namespace pb = google::protobuf;

const char* const seeds[] = {
    R"({"i32":-5,"i64":"7","u32":3,"u64":"9","real":2.5,"flag":true,"text":"abc","raw":"AAEC","health":1})",
    R"({"limits":{"cpu_millicores":"250","inner":{"min_replicas":3}},"command":["a","b"],"numbers":["1","2"]})",
    R"({"labels":{"a":"1","b":"2"},"by_number":{"4":{}},"by_flag":{"true":"x"},"apply":"z"})",
    R"({"healthcheck":{"a":[1,2.50,{"b":null}]},"policy":{"x":"y"},"documents":[1,"two",{}]})",
    R"({"at":"2026-01-02T03:04:05Z","lasts":"3s","free_form":{"k":[1,{"x":null}]},"anything":[1],"wrapped":"w"})"};

std::string mutated(std::string s, std::mt19937& random, bool text) {
  static constexpr std::string_view letters = "{}[]\",:0123456789eE+-.\\utrufalsn$ ";
  for (unsigned n = 1 + random() % 2; n > 0 && !s.empty(); --n) {
    const size_t at = random() % s.size();
    const char c = text ? letters[random() % letters.size()] : static_cast<char>(random());
    switch (random() % 4) {
      case 0:
        s[at] = c;
        break;
      case 1:
        s.insert(at, 1, c);
        break;
      case 2:
        s.erase(at, 1 + random() % 3);
        break;
      default:
        s.insert(at, s.substr(random() % s.size(), random() % 16));
        break;
    }
  }
  return s;
}

TEST(Hostile, BytesThatAreReadSurviveTheRoundTrip) {
  std::mt19937 random(1);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = mutated(bytes_of(seeds[i % std::size(seeds)]), random, false);
    const auto json = to_json(sample(), everything, bytes);
    if (!json.ok()) continue;
    ++read;
    ASSERT_TRUE(Json::parse(*json).ok()) << *json;
    const auto back = from_json(sample(), everything, *json);
    ASSERT_TRUE(back.ok()) << back.error().where << ": " << back.error().message << "\n" << *json;
    ASSERT_EQ(*to_json(sample(), everything, *back), *json);
  }
  EXPECT_GT(read, 2'000);
}

TEST(Hostile, JsonThatIsTakenMeansTheSameToProtobuf) {
  std::mt19937 random(2);
  const auto plain =
      make_schema(view(codec_sample()), {});  // without JSON fields: protobuf knows of none
  ASSERT_TRUE(plain.ok());
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string json = mutated(seeds[(i % 3)], random, true);
    const auto bytes = from_json(**plain, everything, json);
    if (!bytes.ok()) continue;
    ++taken;
    pb::Arena arena;
    const auto theirs = new_message(**plain, everything, arena);
    const auto ours = to_json(**plain, everything, *bytes);
    ASSERT_TRUE(ours.ok()) << json;
    ASSERT_TRUE(pb::util::JsonStringToMessage(*ours, *theirs).ok()) << *ours;
    ASSERT_TRUE(equal_messages(**plain, everything, *bytes, (*theirs)->SerializeAsString()))
        << *ours;
  }
  EXPECT_GT(taken, 500);
}

TEST(Hostile, JsonThatIsDeepIsRefusedNotFollowed) {
  std::string deep;
  for (int i = 0; i < 5'000; ++i) deep += R"({"inner":)";
  EXPECT_FALSE(from_json(sample(), "sample.v1.Limits", deep).ok());
  std::string value;
  for (int i = 0; i < 50'000; ++i) value += "[";
  EXPECT_FALSE(from_json(sample(), everything, R"({"anything":)" + value).ok());
}

TEST(Hostile, BytesThatNestDeeplyInUnknownGroupsAreRefused) {
  EXPECT_FALSE(to_json(sample(), everything, std::string(100'000, '\xa3') + "\x06").ok());
}

}  // namespace
}  // namespace davit::host
