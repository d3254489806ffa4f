// Look-ups of several records in one call, and reads without the payload.
#include "storage.hpp"

namespace davit::conformance {
namespace {

Query by_id(const std::string& id) {
  return {record(id).key, {}, {}};
}
Query by_name(const std::string& id) {
  Query out = by_id(id);
  out.key.id.clear();
  out.name = record(id).name;
  return out;
}
// The ids in the order in which they come; stops at `last`.
std::vector<std::string> looked_up(storage::Client& client, std::vector<Query> queries,
                                   const std::string& last = "") {
  std::vector<std::string> out;
  auto head = client.get(GetRequest{std::move(queries)}, [&](const davit_record& r) {
    out.push_back(text(r.key.id));
    return out.back() != last;
  });
  EXPECT_TRUE(head.ok()) << why(head);
  return out;
}
using Ids = std::vector<std::string>;

TEST(StorageLookups, AreAnsweredQueryByQuery) {
  Store store;
  for (const char* id : {"a", "b", "c"}) put(*store, record(id));
  EXPECT_EQ(looked_up(*store, {by_id("c"), by_id("none"), by_id("a")}), (Ids{"c", "a"}));
  EXPECT_EQ(
      looked_up(*store, {by_name("b"), by_id("a"), by_name("none"), by_name("a"), by_id("b")}),
      (Ids{"b", "a", "a", "b"}));
  EXPECT_EQ(looked_up(*store, {by_id("b"), by_id("b")}), (Ids{"b", "b"}));
  EXPECT_EQ(looked_up(*store, {}), Ids());
}

TEST(StorageLookups, EndWithTheirVisitor) {
  Store store;
  for (const char* id : {"a", "b", "c"}) put(*store, record(id));
  EXPECT_EQ(looked_up(*store, {by_id("a"), by_id("b"), by_id("c")}, "b"), (Ids{"a", "b"}));
  EXPECT_EQ(looked_up(*store, {by_name("a"), by_id("b")}, "a"), Ids{"a"});
}

TEST(StorageLookups, TakeAThousandAtOnce) {
  Store store;
  Group group;
  const uint32_t count = group_size(*store, 100);
  for (uint32_t n = 0; n < count; ++n) group.mutations.push_back({record(std::to_string(n))});
  ASSERT_FALSE(commit(*store, group).error);
  std::vector<Query> queries;
  for (uint32_t n = 0; n < 1000; ++n) queries.push_back(by_id(std::to_string(n * 7 % 1000)));
  Ids expected;
  for (const Query& q : queries) {
    if (std::stoul(q.key.id) < count) expected.push_back(q.key.id);
  }
  EXPECT_EQ(looked_up(*store, queries), expected);
}

// Two records change together, again and again. Each look-up finds both of one change, and a head
// that is not below it.
TEST(StorageLookups, AreOfOneSnapshot) {
  Store store;
  std::atomic<bool> done = false;
  std::atomic<int> changes = 0;
  ASSERT_FALSE(commit(*store, {{{record("a")}, {record("b")}}, {}}).error);
  std::thread writer([&] {
    while (!done) {
      EXPECT_FALSE(commit(*store, {{{record("a")}, {record("b")}}, {}}).error);
      ++changes;
    }
  });
  const std::vector<Query> queries = {by_id("a"), by_id("b"), by_name("a"), by_name("b")};
  for (int n = 0; n < 100 || changes < 20; ++n) {
    std::vector<uint64_t> versions;
    auto head = store->get(GetRequest{queries}, [&](const davit_record& r) {
      versions.push_back(r.version);
      return true;
    });
    if (!head.ok() || versions.size() != 4) {
      ADD_FAILURE() << versions.size() << " records; " << why(head);
      break;
    }
    EXPECT_EQ(versions[1], versions[0] + 1);
    EXPECT_EQ(versions[2], versions[0]);
    EXPECT_EQ(versions[3], versions[1]);
    EXPECT_GE(head->head.version.value(), versions[1]);
  }
  done = true;
  writer.join();
}

// What else a record has is there.
TEST(StorageLookups, WithoutThePayloadTheRestIsWhole) {
  Store store;
  Record r = record("a");
  r.json = "{\"a\": 1}";
  r.annotations = {{"davit/why", "because"}};
  r.author = "somebody";
  put(*store, r);
  const auto whole = get(*store, "a");
  ASSERT_TRUE(whole);
  put(*store, dead(record("b")));
  const auto alike = [&](const davit_record& found) {
    if (text(found.key.id) != "a") return true;
    const Record is = from_abi(found);
    EXPECT_EQ(is.version, whole->version);
    EXPECT_EQ(is.key, r.key);
    EXPECT_EQ(std::tie(is.ns, is.name, is.state, is.author, is.live),
              std::tie(r.ns, r.name, r.state, r.author, r.live));
    EXPECT_EQ(is.committed_at_unix_ms, whole->committed_at_unix_ms);
    return true;
  };
  auto head = store->get(GetRequest{{by_id("a"), by_name("a"), by_id("b")}, true}, alike);
  EXPECT_TRUE(head.ok()) << why(head);
  ReadRequest request;
  request.no_payload = true;
  Ids found;
  auto page = store->read(request, [&](const davit_record& one) {
    found.push_back(text(one.key.id));
    return alike(one);
  });
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_EQ(found, (Ids{"a", "b"}));
  EXPECT_FALSE(page->more);
}

}  // namespace
}  // namespace davit::conformance
