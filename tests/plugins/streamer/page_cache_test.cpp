#include "page_cache.hpp"

#include <gtest/gtest.h>

namespace davit::streamer {
namespace {

using std::chrono::seconds;

const Topic topic{"widget", "r1"};

PageCache::Key from(Version version) {
  return {topic, 0, {7, version}, 0, false};
}

PageResult page_of(size_t bytes) {
  auto page = std::make_shared<PageRead>();
  page->messages.push_back(Buffer::of(std::string(bytes, 'x')));
  return std::shared_ptr<const PageRead>(std::move(page));
}

Change change(const std::string& id, Version version, const std::string& name = {}) {
  return {version, id, "shop", name.empty() ? id : name, Verb::apply, {}, 0};
}

// What became of a wish: how many pages came, and the last of them.
struct Wish {
  int answers = 0;
  PageResult last = Error{Code::internal, "none yet"};
  PageCache::Taker taker() {
    return [this](const PageResult& r) {
      ++answers;
      last = r;
    };
  }
};

TEST(PageCache, WhoComesFirstReadsForAllWhoWait) {
  PageCache cache(1 << 20);
  Wish a, b, late;
  EXPECT_TRUE(cache.want(from(1), a.taker()));
  EXPECT_FALSE(cache.want(from(1), b.taker()));
  EXPECT_EQ(a.answers + b.answers, 0);
  const auto page = page_of(10);
  EXPECT_FALSE(cache.done(from(1), page));
  EXPECT_EQ(*a.last, *page);
  EXPECT_EQ(*b.last, *page);
  EXPECT_FALSE(cache.want(from(1), late.taker()));
  EXPECT_EQ(*late.last, *page);
  EXPECT_EQ(a.answers + b.answers + late.answers, 3);
}

TEST(PageCache, PagesOfAnotherPlaceTopicProtocolOrBeginAreOthers) {
  PageCache cache(1 << 20);
  Wish wish;
  const PageCache::Key one = from(1);
  for (const PageCache::Key& key :
       {one, from(2), PageCache::Key{{"widget", "r2"}, 0, {7, 1}, 0, false},
        PageCache::Key{topic, 1, {7, 1}, 0, false}, PageCache::Key{topic, 0, {8, 1}, 0, false},
        PageCache::Key{topic, 0, {7, 1}, 5, false}, PageCache::Key{topic, 0, {7, 1}, 0, true}}) {
    EXPECT_TRUE(cache.want(key, wish.taker()));
    EXPECT_FALSE(cache.done(key, page_of(1)));
  }
}

TEST(PageCache, AnErrorGoesToAllWhoWaitAndIsNotKept) {
  PageCache cache(1 << 20);
  Wish a, b;
  EXPECT_TRUE(cache.want(from(1), a.taker()));
  EXPECT_FALSE(cache.want(from(1), b.taker()));
  cache.begun(topic, {{{7, 9}, 0, 0}, nullptr}, seconds(1));
  EXPECT_FALSE(cache.done(from(1), Error{Code::out_of_range, "below the purge mark"}));
  EXPECT_EQ(a.last.error().code, Code::out_of_range);
  EXPECT_EQ(b.last.error().code, Code::out_of_range);
  EXPECT_TRUE(cache.want(from(1), a.taker()));
  EXPECT_FALSE(cache.begin(topic, seconds(1)));  // whoever begins anew begins elsewhere
}

TEST(PageCache, TheOldestPagesGoWhenThereAreTooManyBytes) {
  PageCache cache(10'000);
  Wish wish;
  for (uint64_t v = 1; v <= 5; ++v) {
    EXPECT_TRUE(cache.want(from(Version(v)), wish.taker()));
    EXPECT_FALSE(cache.done(from(Version(v)), page_of(3'000)));
    EXPECT_LE(cache.bytes(), 10'000u);
  }
  EXPECT_FALSE(cache.want(from(5), wish.taker()));
  EXPECT_FALSE(cache.want(from(4), wish.taker()));
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
}

TEST(PageCache, APageLargerThanAllOfItIsHandedOutAndNotKept) {
  PageCache cache(1'000);
  Wish wish;
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.done(from(1), page_of(2'000)));
  EXPECT_TRUE(wish.last.ok());
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
}

PageNames names_of(const std::string& id) {
  PageNames names(9);
  names.add(id, 3, true);
  names.seal();
  return names;
}

TEST(PageCache, NamesAreSharedAsLongAsASnapshotKeepsThem) {
  PageCache cache(1'000);
  auto kept = cache.same(from(1), names_of("a"));
  EXPECT_EQ(cache.same(from(1), names_of("a")), kept);
  EXPECT_NE(cache.same(from(2), names_of("a")), kept);
  EXPECT_NE(cache.same(from(1), names_of("b")), kept);  // the page has changed since
  const std::weak_ptr<const PageNames> gone = kept;
  kept.reset();
  EXPECT_TRUE(gone.expired());
  for (uint64_t i = 0; i < 1'000; ++i)
    EXPECT_NE(cache.same(from(Version(i)), names_of("c")), nullptr);
}

PageResult page_that_names(const std::string& id, Version head, bool more) {
  auto page = std::make_shared<PageRead>();
  page->page = {more, 5, {{7, head}, 0, 0}};
  page->names = std::make_shared<const PageNames>(names_of(id));
  return std::shared_ptr<const PageRead>(std::move(page));
}

TEST(PageCache, APageGoesWhenOneOfItsRecordsChanges) {
  PageCache cache(1 << 20);
  Wish wish;
  for (const auto& [version, id] : {std::pair(Version(1), "a"), std::pair(Version(2), "b")}) {
    EXPECT_TRUE(cache.want(from(version), wish.taker()));
    EXPECT_FALSE(cache.done(from(version), page_that_names(id, 9, true)));
  }
  cache.changed({"widget", "r2"}, change("a", 10));
  cache.changed(topic, change("c", 11));
  EXPECT_FALSE(cache.want(from(1), wish.taker()));
  cache.changed(topic, change("a", 12));
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.want(from(2), wish.taker()));
}

// The store says nothing of the dead one then, and an old page would still name it: to a peer that
// knows names only, it would be the living one's end.
TEST(PageCache, APageGoesWhenAnotherRecordTakesTheNameOfOneOfItsDead) {
  PageCache cache(1 << 20);
  Wish wish;
  const auto page = page_that_names("a", 9, true);
  auto buried = std::make_shared<PageRead>(**page);
  buried->add_dead({9, "a", "shop", "web", Verb::remove, {}, 0});
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.done(from(1), std::shared_ptr<const PageRead>(buried)));
  cache.changed(topic, change("b", 10, "api"));
  EXPECT_FALSE(cache.want(from(1), wish.taker()));
  cache.changed(topic, change("b", 11, "web"));
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
}

TEST(PageCache, WhoComesAfterAChangeIsNotGivenAReadingFromBeforeIt) {
  PageCache cache(1 << 20);
  Wish early, late;
  EXPECT_TRUE(cache.want(from(1), early.taker()));
  cache.changed(topic, change("a", 10));
  EXPECT_FALSE(cache.want(from(1), late.taker()));
  EXPECT_TRUE(cache.done(from(1), page_that_names("a", 9, true)));
  EXPECT_EQ(early.answers, 1);
  EXPECT_EQ(late.answers, 0);
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", 10, true)));
  EXPECT_EQ(late.answers, 1);
  EXPECT_EQ((*late.last)->page.head.head.version, Version(10));
}

TEST(PageCache, TheLastPageGoesWithAnyChange) {
  PageCache cache(1 << 20);
  Wish wish;
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", 9, false)));
  EXPECT_FALSE(cache.want(from(1), wish.taker()));
  cache.changed(topic, change("new", 10));
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
}

TEST(PageCache, APageThatWasReadBeforeAChangeIsNotKept) {
  PageCache cache(1 << 20);
  Wish wish;
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  cache.changed(topic, change("a", 10));
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", 9, true)));
  EXPECT_EQ(wish.answers, 1);
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", 10, true)));
  EXPECT_FALSE(cache.want(from(1), wish.taker()));
}

TEST(PageCache, SnapshotsOfATopicShareTheirBeginForAWhile) {
  PageCache cache(1'000);
  EXPECT_FALSE(cache.begin(topic, seconds(0)));
  cache.begun(topic, {{{7, 9}, 0, 0}, nullptr}, seconds(100));
  EXPECT_EQ(cache.begin(topic, seconds(110))->head.head.version, Version(9));
  EXPECT_FALSE(cache.begin(topic, seconds(111)));
  EXPECT_FALSE(cache.begin({"widget", "r2"}, seconds(100)));
  cache.forget(topic);
  EXPECT_FALSE(cache.begin(topic, seconds(101)));
}

// Whoever names regions that do not exist must not be remembered for it.
TEST(PageCache, BeginsThatAreOverAreForgotten) {
  PageCache cache(1'000);
  for (int i = 0; i < 1000; ++i)
    cache.begun({"widget", "r" + std::to_string(i)}, {{{7, 9}, 0, 0}, nullptr}, seconds(i));
  EXPECT_TRUE(cache.begin({"widget", "r999"}, seconds(1000)));
  EXPECT_LE(cache.begins(), 64u);
}

TEST(PageCache, PagesOfManyTopicsThatHoldNothingGoTooWhenThereAreTooMany) {
  PageCache cache(10'000);
  Wish wish;
  for (int i = 0; i < 1000; ++i) {
    const PageCache::Key key{
        {"widget", std::string(200, 'r') + std::to_string(i)}, 0, {7, 1}, 0, false};
    EXPECT_TRUE(cache.want(key, wish.taker()));
    EXPECT_FALSE(cache.done(key, page_of(0)));
    EXPECT_LE(cache.bytes(), 10'000u);
  }
  EXPECT_GT(cache.bytes(), 5'000u);
}

TEST(PageCache, OfATopicWhoseLastChangeIsForgottenAPageBeforeItIsNotKept) {
  PageCache cache(1 << 20);
  Wish wish;
  Version version{};
  for (int i = 0; i < 40'000; ++i)
    cache.changed({"widget", "r" + std::to_string(i)}, change("a", ++version));
  EXPECT_TRUE(cache.want(from(1), wish.taker()));
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", 10, true)));
  EXPECT_TRUE(cache.want(from(1), wish.taker())) << "the store may have read it before the change";
  EXPECT_FALSE(cache.done(from(1), page_that_names("a", version, true)));
  EXPECT_FALSE(cache.want(from(1), wish.taker()));
}

}  // namespace
}  // namespace davit::streamer
