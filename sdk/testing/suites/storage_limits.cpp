// What every store keeps: the domains of abi/storage.h at their limits, and as much in one call as
// the store itself says (S4, S8, S11).
#include "davit/storage_domain.hpp"
#include "storage.hpp"

namespace davit::conformance {
namespace {

constexpr uint32_t most = 2'000;          // records of one call in these tests
constexpr uint64_t most_bytes = 4 << 20;  // of one record
constexpr uint64_t number_max = INT64_MAX;
constexpr Version version_max(number_max);
constexpr Epoch epoch_max(number_max);
constexpr uint64_t report_bytes_min = 512 << 10;

storage::Limits limits(Store& store) {
  const auto r = store->limits();
  EXPECT_TRUE(r.ok()) << why(r);
  return r.ok() ? *r : storage::Limits();
}

// A name of this many bytes; its last character has two.
std::string name_of(size_t bytes) {
  return std::string(bytes - 2, 'n') + "\xc3\xa9";
}

TEST(StorageLimits, LeaveRoomForOneOfEach) {
  Store store;
  const auto l = limits(store);
  EXPECT_GE(l.group_records, 1u);
  EXPECT_GE(l.group_bytes, l.record_bytes);
  EXPECT_GE(l.report_statuses, 1u);
  EXPECT_GE(l.report_bytes, report_bytes_min);
}

TEST(StorageLimits, TheLongestNamesAreKeptWhole) {
  Store store;
  Record r = record("");
  r.key = {name_of(DAVIT_KIND_BYTES_MAX), name_of(DAVIT_REGION_BYTES_MAX),
           name_of(DAVIT_NAME_BYTES_MAX)};
  r.ns = name_of(DAVIT_NAMESPACE_BYTES_MAX);
  r.name = name_of(DAVIT_NAME_BYTES_MAX);
  Record twin = r;  // of another id and name, in their last byte
  for (std::string* text : {&twin.key.id, &twin.name}) text->back() = '\xa8';
  for (const Record& one : {r, twin}) {
    const Version version = put(*store, one);
    for (const Query& query :
         {Query{one.key, {}, {}}, Query{{r.key.kind, r.key.region, {}}, one.ns, one.name}}) {
      uint64_t found = 0;
      const auto got = store->get(query, [&](const davit_record& x) {
        EXPECT_EQ(from_abi(x.key), one.key);
        EXPECT_EQ(text(x.ns), one.ns);
        EXPECT_EQ(text(x.name), one.name);
        found = x.version;
        return true;
      });
      EXPECT_TRUE(got.ok()) << why(got);
      EXPECT_EQ(Version(found), version);
    }
  }
  Status s = status("", 1);
  s.key = r.key;
  s.children = {{name_of(DAVIT_NAME_BYTES_MAX), "", "running", 0, 0}};
  ASSERT_TRUE(store->report_now({s}).ok());
  const auto all = read_statuses(*store, {}, {r.key.kind, r.key.region});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].key, s.key);
  EXPECT_EQ(all[0].children, s.children);
  const std::string request(DAVIT_REQUEST_ID_BYTES_MAX, 'r');
  const Group group{{{record("a")}}, request};
  EXPECT_EQ(commit(*store, group).first_version, commit(*store, group).first_version);
}

TEST(StorageLimits, NumbersUpToTheLargestAreKept) {
  Store store;
  put(*store, record("a"));
  Status s = status("a", number_max, epoch_max);
  s.desired = s.updated = s.ready = s.stale = INT64_MAX;
  s.reported_at_unix_ms = INT64_MAX;
  s.children = {{"pod", "", "running", INT64_MAX, INT64_MAX}};
  ASSERT_TRUE(store->report_now({s}).ok());
  const auto all = read_statuses(*store);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].sequence, number_max);
  EXPECT_EQ(all[0].epoch, epoch_max);
  EXPECT_EQ(all[0].stale, INT64_MAX);
  EXPECT_EQ(all[0].reported_at_unix_ms, INT64_MAX);
  EXPECT_EQ(all[0].children, s.children);
  constexpr Incarnation huge(UINT64_MAX - 1);
  const Progress p{"r1",
                   "agent",
                   "davit",
                   epoch_max,
                   {{"widget", {Incarnation::max(), version_max}}},
                   {{"widget", "a", "", "", version_max, DAVIT_ISSUE_HELD, "", huge}},
                   INT64_MAX};
  ASSERT_TRUE(store->progress(p).ok());
  int agents = 0;
  const auto read = store->agents({}, [&](const davit_progress& x) {
    const Progress found = from_abi(x);
    EXPECT_EQ(found.epoch, epoch_max);
    EXPECT_EQ(found.seen_at_unix_ms, INT64_MAX);
    EXPECT_EQ(found.kinds.at(0).applied, p.kinds[0].applied);
    EXPECT_EQ(found.issues.at(0).version, version_max);
    EXPECT_EQ(found.issues.at(0).incarnation, huge) << "incarnations have 64 bits";
    return ++agents, true;
  });
  EXPECT_TRUE(read.ok()) << why(read);
  EXPECT_EQ(agents, 1);
}

TEST(StorageLimits, TextsKeepTheirControlCharacters) {
  Store store;
  const std::string odd = "\x01\t\r\n\x1f\x7f\\'\"%_\xf4\x8f\xbf\xbf";
  Record r = record("a");
  r.author = r.state = odd;
  r.annotations = {{odd, odd}};
  put(*store, r);
  const auto found = get(*store, "a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->author, odd);
  EXPECT_EQ(found->state, odd);
  EXPECT_EQ(found->annotations, r.annotations);
}

TEST(StorageLimits, S4_AGroupOfTheLargestSizeIsCommitted) {
  Store store;
  const uint32_t size = group_size(*store, most);
  Group group;
  for (uint32_t i = 0; i < size; ++i) group.mutations.push_back({record("a" + std::to_string(i))});
  EXPECT_FALSE(commit(*store, group).error);
  EXPECT_EQ(read_all(*store, {}, {}, most).records.size(), size);
}

TEST(StorageLimits, TheLargestRecordIsKept) {
  Store store;
  Record r = record("a", "");
  const uint64_t size = std::min(limits(store).record_bytes, most_bytes);
  ASSERT_GT(size, storage::stored_bytes(r));
  r.payload.resize(size - storage::stored_bytes(r), '\xee');
  put(*store, r);
  EXPECT_EQ(get(*store, "a")->payload, r.payload);
}

TEST(StorageLimits, TheLargestReportIsStored) {
  Store store;
  const auto l = limits(store);
  const uint32_t size = std::min(l.report_statuses, most), group = group_size(*store, most);
  std::vector<Status> statuses;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < size; ++i) {
    statuses.push_back(status("a" + std::to_string(i), 1));
    bytes += storage::stored_bytes(statuses.back());
    if (bytes <= l.report_bytes) continue;
    statuses.pop_back();
    break;
  }
  for (size_t i = 0; i < statuses.size();) {
    Group g;
    for (; i < statuses.size() && g.mutations.size() < group; ++i)
      g.mutations.push_back({record(statuses[i].key.id)});
    ASSERT_FALSE(commit(*store, g).error);
  }
  const auto r = store->report_now(statuses);
  ASSERT_TRUE(r.ok()) << why(r);
  EXPECT_EQ(read_statuses(*store, {}, {}, most).size(), statuses.size());
}

TEST(StorageLimits, S8_AReportThatFailsLeavesEachStatusWholeOrAbsentAndMayBeRepeated) {
  Store store;
  std::map<std::string, Status> reported;
  std::vector<Status> statuses;
  for (const char* id : {"a", "b", "c", "d"}) {
    put(*store, record(id));
    Status s = status(id, 1);
    s.children = {{"pod", "10.0.0.1", "running", 1, 1}};
    statuses.push_back(reported[id] = s);
  }
  const auto whole = [&] {
    const auto all = read_statuses(*store);
    for (const Status& s : all) EXPECT_EQ(s.children, reported[s.key.id].children) << s.key.id;
    return all.size();
  };
  const auto r = store->under(given_up_before()).report_now(statuses);
  EXPECT_TRUE(r.ok() || r.error().code == Code::cancelled) << why(r);
  const size_t stored = whole();
  EXPECT_TRUE(!r.ok() || stored == 4);
  ASSERT_TRUE(store->report_now(statuses).ok());
  EXPECT_EQ(whole(), 4u);
}

}  // namespace
}  // namespace davit::conformance
