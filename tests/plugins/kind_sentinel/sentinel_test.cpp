// Which messages are valid, and what the others are told.
#include "message.hpp"

namespace davit::sentinel::test {
namespace {

// The minimal message with one member changed; "-": without it.
std::string with(const char* key, const char* value) {
  json::object message = minimal();
  message.erase(key);
  if (std::string_view(value) != "-") message[key] = json::parse(value);
  return json::serialize(message);
}

struct Row {
  const char* key;
  const char* value;
  const char* fault;  // a part of it; empty: valid
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.key << " " << row.value;
}

class SentinelMessage : public ::testing::TestWithParam<Row> {};

TEST_P(SentinelMessage, IsValidOrNamesTheFieldAndTheRule) {
  const auto [key, value, fault] = GetParam();
  const auto read = read_sentinel(with(key, value));
  ASSERT_EQ(read.ok(), std::string_view(fault).empty()) << (read.ok() ? "" : read.error().message);
  if (read.ok()) return;
  EXPECT_EQ(read.error().code, Code::invalid_argument);
  EXPECT_EQ(read.error().where, key);
  EXPECT_TRUE(read.error().message.find(fault) != std::string::npos) << read.error().message;
}

constexpr Row rows[] = {
    {"k8s_name", "-", "is missing"},
    {"k8s_name", "\"\"", "is missing"},
    {"k8s_name", "7", "must be a string"},
    {"k8s_name", "\"Edge\"", "must be a Service's name"},
    {"k8s_name", "\"1edge\"", "beginning with a letter"},
    {"k8s_name", "\"edge.one\"", "must be a Service's name"},
    // 52 characters are a Service's 63 without "-gossip-lan".
    {"k8s_name", "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeff\"", ""},
    {"k8s_name", "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefff\"", "at most 52"},
    {"workspace_id", "-", "is missing"},
    {"project_id", "null", "is missing"},
    {"environment_id", "-", "is missing"},
    {"sentinel_id", "-", "is missing"},
    {"sentinel_id", "\"s 1\"", "usable as a label"},
    {"app_id", "\"-\"", "usable as a label"},
    {"app_id", "\"app_1\"", ""},
    {"image", "-", "is missing"},
    {"image", "\"a b\"", "must not contain white space"},
    {"replicas", "-", ""},
    {"replicas", "0", ""},
    {"replicas", "2147483647", ""},
    {"replicas", "-1", "must be at least 0, not -1"},
    {"replicas", "2147483648", "must be at most 2147483647"},
    {"replicas", "1.5", "must be a whole number"},
    {"cpu_millicores", "-", "must be at least 1, not 0"},
    {"cpu_millicores", "\"-5\"", "must be at least 1, not -5"},
    {"cpu_millicores", "\"1\"", ""},
    {"cpu_millicores", "\"12x\"", "must be a whole number"},
    {"memory_mib", "0", "must be at least 1, not 0"},
    {"memory_mib", "\"9223372036854775807\"", "must be at most 1073741824"},
    {"later", "{}", ""},
};
INSTANTIATE_TEST_SUITE_P(Table, SentinelMessage, ::testing::ValuesIn(rows));

TEST(SentinelMessage, IsReadWhole) {
  json::object message = minimal();
  message["app_id"] = "app_1";
  const auto s = read_sentinel(message);
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->name, "edge");
  EXPECT_EQ(s->gossip_name(), "edge-gossip-lan");
  EXPECT_EQ(s->workspace_id + s->project_id + s->app_id + s->environment_id + s->sentinel_id,
            "ws_1proj_1app_1env_1s_1");
  EXPECT_EQ(s->image, "sentinel:1");
  EXPECT_EQ(s->replicas, 2);
  EXPECT_EQ(s->cpu_millicores, 250);
  EXPECT_EQ(s->memory_mib, 256);
}

TEST(SentinelMessage, LivesInTheSitesNamespace) {
  Site site;
  const std::string apply = json::serialize(minimal());
  EXPECT_EQ(identify(apply, site).value(), (Named{"s_1", "sentinel", "edge"}));
  site.ns = "edge";
  EXPECT_EQ(identify(apply, site).value(), (Named{"s_1", "edge", "edge"}));
  EXPECT_EQ(identify(with("sentinel_id", "-"), site).error().where, "sentinel_id");
  EXPECT_EQ(identify(with("k8s_name", "-"), site).error().where, "k8s_name");
}

TEST(SentinelMessage, WantsNoneWhenReplicasAreZeroOrAbsent) {
  EXPECT_TRUE(wants_none(with("replicas", "0")));
  EXPECT_TRUE(wants_none(with("replicas", "-")));
  EXPECT_FALSE(wants_none(with("replicas", "1")));
  EXPECT_FALSE(wants_none(with("replicas", "\"many\"")));
  EXPECT_FALSE(wants_none("")) << "nothing can be told";
}

}  // namespace
}  // namespace davit::sentinel::test
