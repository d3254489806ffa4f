// Pages of statuses and their cursors (S1, S2, S10, S12).
#include "storage.hpp"

namespace davit::conformance {
namespace {

const auto any = [](const davit_status&) { return true; };

// Reports a status of the record `id`, which must exist.
void report(Store& store, const std::string& id, uint64_t sequence) {
  const auto r = store->report_now({status(id, sequence)});
  ASSERT_TRUE(r.ok()) << why(r);
}

TEST(StorageStatuses, S2_AreReadInTheOrderOfTheirVersionsInPages) {
  Store store;
  for (int i = 0; i < 9; ++i) put(*store, record("a" + std::to_string(i)));
  for (int i = 8; i >= 0; --i)
    ASSERT_TRUE(store->report_now({status("a" + std::to_string(i), 1)}).ok());
  ASSERT_TRUE(store->report_now({status("a4", 2)}).ok());
  for (uint32_t limit : {1u, 2u, 100u}) {
    const auto all = read_statuses(*store, {}, {}, limit);
    ASSERT_EQ(all.size(), 9u);
    for (size_t i = 1; i < all.size(); ++i)
      EXPECT_LT(all[i - 1].status_version, all[i].status_version);
    EXPECT_EQ(all.back().key.id, "a4");
  }
}

TEST(StorageStatuses, ReadsOnlyWhatTheScopeNamesAndEndsAtTheHead) {
  Store store;
  Record other = record("b");
  other.key.region = "r2";
  put(*store, record("a"));
  put(*store, other);
  Status s = status("b", 1);
  s.key.region = "r2";
  ASSERT_TRUE(store->report_now({status("a", 1)}).ok());
  ASSERT_TRUE(store->report_now({s}).ok());
  EXPECT_EQ(read_statuses(*store, {}, {"", "r1"}).size(), 1u);
  EXPECT_EQ(read_statuses(*store, {}, {"widget", "r2"}).size(), 1u);
  EXPECT_TRUE(read_statuses(*store, {}, {"gadget", ""}).empty());
  const auto page =
      store->statuses({{"widget", "r1"}, {}, 10}, [](const davit_status&) { return true; });
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_FALSE(page->more);
  EXPECT_EQ(page->next, status_head(*store));
}

TEST(StorageStatuses, S1_APageThatWasCutEndsAtItsLastStatusAndOneThatWasNotAtTheHead) {
  Store store;
  for (const char* id : {"a", "b"}) put(*store, record(id));
  report(store, "a", 1);
  report(store, "b", 1);
  Version last;
  auto page = store->statuses({{}, {}, 1}, [&](const davit_status& s) {
    last = Version(s.status_version);
    return true;
  });
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->next, (Cursor{store->head()->head.incarnation, last}));
  EXPECT_EQ(page->head.head, store->head()->head);
  EXPECT_EQ(page->head.status_head, status_head(*store).version);
  page = store->statuses({{}, {}, 2}, any);
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_FALSE(page->more);
  EXPECT_EQ(page->next, status_head(*store));
  page = store->statuses({{}, {}, 2}, [](const davit_status&) { return false; });
  ASSERT_TRUE(page.ok()) << why(page);
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->next.version, last) << "a visitor that stops goes on after what it saw";
}

TEST(StorageStatuses, NobodyHasToWantTheHeadOfAPage) {
  Store store;
  put(*store, record("a"));
  report(store, "a", 1);
  const davit_scope scope{sizeof scope, 0, {}, {}};
  const davit_status_read request{sizeof request, 10, &scope, {}, UINT64_MAX, 0, 0};
  davit_status_page page{sizeof page, 0, {}, nullptr};
  const auto visit = [](void*, const davit_status*) -> int32_t { return 0; };
  const auto r = checked([&](davit_error* e) {
    return store.vtable()->statuses(store.self(), Op().abi(), &request, visit, nullptr, &page, e);
  });
  ASSERT_TRUE(r.ok()) << why(r);
  EXPECT_EQ(page.head, nullptr);
  EXPECT_EQ(from_abi(page.next), status_head(*store));
}

TEST(StorageStatuses, S12_APageKeepsToItsBytesButHasAtLeastOneStatus) {
  Store store;
  for (const char* id : {"a", "b", "c"}) {
    put(*store, record(id));
    Status s = status(id, 1);
    s.message = std::string(300, 'm');
    s.parked = std::string(100, 'p');
    s.detail = std::string(200, 'd');
    s.children = {{std::string(100, 'n'), std::string(100, 'a'), "running", 1, 1},
                  {std::string(93, 'o'), std::string(93, 'a'), "running", 1, 1}};
    ASSERT_TRUE(store->report_now({s}).ok());  // 1000 bytes
  }
  const auto count = [&](uint64_t bytes_max) {
    size_t n = 0;
    auto page =
        store->statuses({{}, {}, 10, bytes_max}, [&](const davit_status&) { return ++n, true; });
    EXPECT_TRUE(page.ok()) << why(page);
    EXPECT_EQ(page->more, n < 3);
    return n;
  };
  EXPECT_EQ(count(0), 1u);
  EXPECT_EQ(count(1999), 1u);
  EXPECT_EQ(count(2000), 2u);
  EXPECT_EQ(count(UINT64_MAX), 3u);
}

TEST(StorageStatuses, S10_ACursorOfAnotherHistoryOrAboveTheStatusHeadIsRefused) {
  Store store;
  for (const char* id : {"a", "b", "c"}) put(*store, record(id));
  report(store, "a", 1);
  const auto [incarnation, head] = status_head(*store);
  expect_refused_status(*store, {another(incarnation), head});
  expect_refused_status(*store, {0, head});
  expect_refused_status(*store, {incarnation, head + 1});
  EXPECT_TRUE(store->statuses({{}, {incarnation, head}}, any).ok());
  EXPECT_TRUE(store->statuses({{}, {another(incarnation), 0}}, any).ok());
}

TEST(StorageStatuses, S10_ACursorIsGoodUpToWhereItsIncarnationEndedForStatuses) {
  if (is_volatile()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Store store;
  put(*store, record("a"));
  for (uint64_t sequence : {1, 2, 3}) report(store, "a", sequence);
  const Cursor first = status_head(*store);
  ASSERT_GT(first.version, store->head()->head.version);
  store.restart();
  report(store, "a", 4);
  const Cursor second = status_head(*store);
  EXPECT_GT(second.version, first.version);
  EXPECT_EQ(read_statuses(*store, first).size(), 1u);
  EXPECT_TRUE(store->statuses({{}, second}, any).ok());
  if (second.incarnation != first.incarnation)
    expect_refused_status(*store, {first.incarnation, second.version});
}

}  // namespace
}  // namespace davit::conformance
