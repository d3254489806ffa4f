// Pages, callers that no longer wait (S1, S11, S12).
#include "storage.hpp"

namespace davit::conformance {
namespace {

TEST(Storage, S1_APageThatWasCutEndsAtItsLastRecordAndOneThatWasNotAtTheHead) {
  Store store;
  put(*store, record("a"));
  const Version b = put(*store, record("b"));
  Record other = record("c");
  other.key.kind = "gadget";
  const Version head = put(*store, other);
  const auto none = [](const davit_record&) { return true; };
  auto cut = store->read({{"widget", "r1"}, {}, 0, 1, UINT64_MAX}, none);
  ASSERT_TRUE(cut.ok());
  EXPECT_TRUE(cut->more);
  EXPECT_LT(cut->next_version, b);
  auto whole = store->read({{"widget", "r1"}, {}, 0, 2, UINT64_MAX}, none);
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE(whole->more);
  EXPECT_EQ(whole->next_version, head);
}

TEST(Storage, ReadsOnlyWhatTheScopeNames) {
  Store store;
  for (const char* kind : {"widget", "gadget"}) {
    for (const char* region : {"r1", "r2"}) {
      for (const char* id : {"1", "2", "3"}) {
        Record r = record(std::string(kind) + region + id);
        r.key.kind = kind;
        r.key.region = region;
        put(*store, r);
      }
    }
  }
  EXPECT_EQ(read_all(*store, {}, {}, 2).records.size(), 12u);
  EXPECT_EQ(read_all(*store, {}, {"widget", ""}, 2).records.size(), 6u);
  EXPECT_EQ(read_all(*store, {}, {"", "r2"}, 2).records.size(), 6u);
  EXPECT_EQ(ids(read_all(*store, {}, {"gadget", "r2"}, 2).records),
            (std::vector<std::string>{"gadgetr21", "gadgetr22", "gadgetr23"}));
  EXPECT_TRUE(read_all(*store, {}, {"widget", "r3"}, 2).records.empty());
}

TEST(Storage, S12_APageKeepsToItsBytesButHasAtLeastOneRecord) {
  Store store;
  for (const char* id : {"a", "b", "c"}) put(*store, record(id, std::string(1000, 'x')));
  const auto count = [&](uint64_t bytes_max) {
    size_t n = 0;
    auto page =
        store->read({{}, {}, 0, 10, bytes_max}, [&](const davit_record&) { return ++n, true; });
    EXPECT_TRUE(page.ok()) << why(page);
    EXPECT_EQ(page->more, n < 3);
    return n;
  };
  EXPECT_EQ(count(0), 1u);
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(1999), 1u);
  EXPECT_EQ(count(2000), 2u);
  EXPECT_EQ(count(UINT64_MAX), 3u);
}

TEST(Storage, AVisitorThatStopsGoesOnAfterTheLastRecordItSaw) {
  Store store;
  for (const char* id : {"a", "b", "c"}) put(*store, record(id));
  Version last;
  auto page = store->read({{}, {}, 0, 10, UINT64_MAX}, [&](const davit_record& r) {
    last = Version(r.version);
    return text(r.key.id) != "b";
  });
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_TRUE(page->more) << "the visitor has cut the page";
  EXPECT_EQ(page->next_version, last);
  EXPECT_EQ(ids(read_all(*store, {page->head.head.incarnation, page->next_version}).records),
            std::vector<std::string>{"c"});
}

TEST(Storage, S11_ACallerWhoHasGoneLeavesNoTransactionOpen) {
  Store store;
  Group group;
  for (uint32_t i = 0, size = group_size(*store, 500); i < size; ++i) {
    group.mutations.push_back({record("a" + std::to_string(i))});
  }
  ASSERT_FALSE(commit(*store, group).error);
  const storage::Client gone = store->under(given_up_before());
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto read = gone.read({{}, {}, 0, 1000, UINT64_MAX}, [](const davit_record&) { return true; });
    EXPECT_TRUE(read.ok() || read.error().code == Code::cancelled) << why(read);
    const Version head = store->head()->head.version;
    auto written = gone.commit_now({{{{record("gone")}}, {}}});
    const bool applied = written.ok() && !written->front().error;
    EXPECT_TRUE(written.ok() || written.error().code == Code::cancelled) << why(written);
    EXPECT_EQ(store->head()->head.version, applied ? head + 1 : head);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    ASSERT_NE(put(*store, record("after")), Version());  // an open transaction would block it
  }
}

}  // namespace
}  // namespace davit::conformance
