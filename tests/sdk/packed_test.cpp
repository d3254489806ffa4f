#include "davit/packed.hpp"

#include <gtest/gtest.h>

namespace davit::packed {
namespace {

Record full_record() {
  Record r;
  r.key = {"widget", "r1", "w-1"};
  r.ns = "shop", r.name = "knob", r.state = "running";
  r.version = Version(INT64_MAX);
  r.live = true;
  r.payload = std::string("\0\xff\n", 3) + std::string(100'000, 'x');
  r.json = "{\"a\": 1}";
  r.committed_at_unix_ms = -1;
  r.author = "o'brien \xc3\xa9", r.request_id = "request";
  r.annotations = {{"key", "value"}, {"empty", ""}, {"", ""}};
  return r;
}
Status full_status() {
  Status s;
  s.key = {"widget", "r1", "w-1"};
  s.gone = true;
  s.observed_version = 17, s.observed_incarnation = Incarnation::max();
  s.health = "healthy";
  s.desired = 1, s.updated = 2, s.ready = 3, s.stale = INT64_MIN;
  s.message = "m", s.parked = "p";
  s.children = {{"pod", "10.0.0.1", "running", 250, 64}, {}};
  s.detail = "{}";
  s.epoch = 5, s.sequence = 6, s.status_version = 7, s.reported_at_unix_ms = 8;
  s.ns = "shop", s.name = "knob";
  return s;
}
Progress full_progress() {
  Progress p{"r1", "agent", "davit 1", 3, {{"widget", {1, 2}}, {"", {}}}, {}, 9};
  p.issues = {{"widget", "w-1", "shop", "knob", 4, "held", "why", 5}};
  p.sequence = 10;
  return p;
}

// What the packed form keeps is compared by it. A member that it forgets shows in the other tests.
template <class Value>
std::string again(const Result<Value>& value) {
  return value.ok() ? pack(*value) : value.error().message;
}

TEST(Packed, KeepsEveryMemberOfARecord) {
  const Record r = full_record();
  const auto back = unpack_record(pack(r));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->key, r.key);
  EXPECT_EQ(std::tie(back->ns, back->name, back->state, back->version, back->live),
            std::tie(r.ns, r.name, r.state, r.version, r.live));
  EXPECT_EQ(std::tie(back->payload, back->json, back->committed_at_unix_ms),
            std::tie(r.payload, r.json, r.committed_at_unix_ms));
  EXPECT_EQ(std::tie(back->author, back->request_id, back->annotations),
            std::tie(r.author, r.request_id, r.annotations));
  Record dead = r;
  dead.live = false;
  EXPECT_FALSE(unpack_record(pack(dead))->live);
}

TEST(Packed, KeepsEveryMemberOfAStatus) {
  const Status s = full_status();
  const auto back = unpack_status(pack(s));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->key, s.key);
  EXPECT_EQ(std::tie(back->gone, back->observed_version, back->observed_incarnation, back->health),
            std::tie(s.gone, s.observed_version, s.observed_incarnation, s.health));
  EXPECT_EQ(std::tie(back->desired, back->updated, back->ready, back->stale, back->message),
            std::tie(s.desired, s.updated, s.ready, s.stale, s.message));
  EXPECT_EQ(std::tie(back->parked, back->children, back->detail, back->epoch, back->sequence),
            std::tie(s.parked, s.children, s.detail, s.epoch, s.sequence));
  EXPECT_EQ(std::tie(back->status_version, back->reported_at_unix_ms, back->ns, back->name),
            std::tie(s.status_version, s.reported_at_unix_ms, s.ns, s.name));
}

TEST(Packed, KeepsEveryMemberOfAProgress) {
  const Progress p = full_progress();
  const auto back = unpack_progress(pack(p));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(std::tie(back->region, back->agent, back->software, back->epoch),
            std::tie(p.region, p.agent, p.software, p.epoch));
  ASSERT_EQ(back->kinds.size(), 2u);
  EXPECT_EQ(back->kinds[0].kind, "widget");
  EXPECT_EQ(back->kinds[0].applied, (Cursor{1, 2}));
  ASSERT_EQ(back->issues.size(), 1u);
  const Issue &is = back->issues[0], &was = p.issues[0];
  EXPECT_EQ(std::tie(is.kind, is.id, is.ns, is.name, is.version, is.condition, is.reason),
            std::tie(was.kind, was.id, was.ns, was.name, was.version, was.condition, was.reason));
  EXPECT_EQ(is.incarnation, Incarnation(5));
  EXPECT_EQ(std::tie(back->seen_at_unix_ms, back->sequence),
            std::tie(p.seen_at_unix_ms, p.sequence));
}

TEST(Packed, KeepsEmptyValues) {
  EXPECT_EQ(pack(Status()).size(), detail::head_bytes);
  EXPECT_TRUE(unpack_status(pack(Status())).ok());
  EXPECT_TRUE(unpack_progress(pack(Progress())).ok());
  EXPECT_TRUE(unpack_record(pack(Record()))->live);
}

// Stores have these bytes: they are read for ever.
TEST(Packed, HasTheSameBytesInEveryVersionOfTheSdk) {
  Record r;
  r.key = {"k", "r", "i"};
  r.version = 300;
  r.annotations = {{"a", "b"}};
  const std::string members(
      "\x01\x09\x01\x01k\x02\x01r\x03\x01i\x05\x02\xac\x02\x06\x01\x01"
      "\x0c\x06\x01\x01"
      "a\x02\x01"
      "b",
      26);
  EXPECT_EQ(pack(r).substr(detail::head_bytes), members);
  EXPECT_EQ(pack(r).substr(0, 2), std::string("r\x01"));
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u) << "the published check value of CRC-32C";
}

TEST(Packed, PassesOverWhatALaterSdkHasAdded) {
  detail::Packer later;
  later.out = detail::Packer::of(full_progress());
  later.content(1000, "a member of tomorrow");
  detail::Packer kind;
  kind.out = detail::Packer::of(KindProgress{"gadget", {}});
  kind.content(77, "new");
  later.content(5, kind.out);
  const auto back = unpack_progress(detail::seal('p', later.out));
  ASSERT_TRUE(back.ok()) << back.error().message;
  Progress known = full_progress();
  known.kinds.push_back({"gadget", {}});
  EXPECT_EQ(again(back), pack(known));
}

TEST(Packed, RefusesWhatIsCutOrChanged) {
  Record small = full_record();
  small.payload = "short";
  const std::string whole = pack(small);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto r = unpack_record(whole.substr(0, size));
    ASSERT_FALSE(r.ok()) << size;
    EXPECT_EQ(r.error().code, Code::data_loss);
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_FALSE(unpack_record(changed).ok()) << at;
  }
  EXPECT_FALSE(unpack_record(whole + "x").ok());
}

TEST(Packed, SaysWhatIsWrong) {
  const auto message = [](const auto& r) { return r.ok() ? "" : r.error().message; };
  EXPECT_EQ(message(unpack_record("r")), "a packed record is cut: 1 bytes");
  EXPECT_EQ(message(unpack_record(pack(Status()))), "these bytes are not a packed record");
  std::string later = pack(Status());
  later[1] = 2;
  EXPECT_EQ(message(unpack_status(later)),
            "a packed status is of format 2, and this SDK knows only 1");
  std::string damaged = pack(Progress());
  damaged[3] ^= 1;
  EXPECT_EQ(message(unpack_progress(damaged)),
            "a packed progress is damaged: its checksum is wrong");
  for (const std::string& members :
       {std::string("\x05"), std::string("\x05\x02\x01"), std::string("\x05\x02\x01\x01"),
        std::string("\x01\x02\x01\x09"), std::string("\x05\x0b") + std::string(11, '\xff')}) {
    EXPECT_EQ(message(unpack_record(detail::seal('r', members))), "a packed record is malformed");
  }
}

}  // namespace
}  // namespace davit::packed
