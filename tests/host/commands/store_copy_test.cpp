// Copies between two stores in files, as `davit storage copy` makes them.
#include "commands/store_copy.hpp"

#include <gtest/gtest.h>

#include "davit/testing/module.hpp"
#include "davit/testing/temporary.hpp"

namespace davit::host {
namespace {

const davit_plugin* sqlite() {
  static const auto loaded = testing::Loaded::open(STORAGE_SQLITE_SO);
  if (!loaded.ok()) ADD_FAILURE() << loaded.error().message;
  return loaded->plugin();
}

class Side {
 public:
  explicit Side(const std::string& path)
      : host_("main", {{"path", path}}), instance_(sqlite(), host_) {
    EXPECT_TRUE(instance_.create().ok());
  }
  void start() {
    const auto started = instance_.start();
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
  }
  storage::Client store() { return {host_.host(), instance_.ref(DAVIT_STORAGE)}; }
  storage::Moves moves() { return storage::Moves(instance_.ref(DAVIT_STORAGE_MOVE)); }
  StoreCopy::Target target() { return {store(), moves()}; }

 private:
  testing::TestHost host_;
  testing::Instance instance_;
};

Record record(const std::string& id, bool live = true) {
  Record r;
  r.key = {"widget", "r1", id};
  r.ns = "default";
  r.name = id;
  r.live = live;
  r.state = live ? "running" : "deleted";
  r.payload = "payload of " + id;
  r.json = "{}";
  r.annotations = {{"b", "2"}, {"a", "1"}};
  return r;
}

class StoreCopyTest : public ::testing::Test {
 protected:
  StoreCopyTest() {
    source_.start();
    EXPECT_EQ(*target_.moves().begin(), "");
    target_.start();
  }
  Version put(const Record& r) { return put(source_, r); }
  static Version put(Side& into, const Record& r) {
    const auto done = into.store().commit_now({{{{r}}, {}}});
    EXPECT_TRUE(done.ok() && !done->front().error);
    return done->front().first_version;
  }
  void report(const std::string& id, uint64_t sequence) {
    Status s;
    s.key = record(id).key;
    s.health = "healthy";
    s.epoch = 1;
    s.sequence = sequence;
    s.children = {{"pod-b", "", "running", 1, 2}, {"pod-a", "", "failed", 3, 4}};
    EXPECT_TRUE(source_.store().report_now({s}).ok());
  }
  // What a pass copied: records and statuses.
  std::string pass(const storage::Limits& limits = {}) {
    const auto target = target_.target();
    const auto counts = copy_.catch_up(place_, limits, &target);
    if (!counts.ok()) return counts.error().message;
    return std::to_string(counts->records) + " " + std::to_string(counts->statuses);
  }
  static std::string said(const Error& e) {
    return e.code == Code::out_of_range ? "unknown" : e.code == Code::aborted ? "stale" : e.message;
  }
  // What a stream of the copy would bring after the cursor.
  std::string after(Cursor cursor) {
    std::string out;
    const auto page = target_.store().read({{}, cursor, 0, 100, 1 << 20}, [&](auto& r) {
      out += text(r.key.id);
      return true;
    });
    return page.ok() ? out : said(page.error());
  }
  std::string statuses_after(Cursor cursor) {
    std::string out;
    const auto page = target_.store().statuses({{}, cursor, 100, 1 << 20}, [&](auto& s) {
      out += text(s.key.id);
      return true;
    });
    return page.ok() ? out : said(page.error());
  }
  // What becomes of a change that expects the record to be as it was read there.
  std::string expecting(const std::string& id, Cursor read) {
    const auto done =
        target_.store().commit_now({{{{record(id), read.version, read.incarnation}}, {}}});
    if (!done.ok()) return done.error().message;
    return done->front().error ? said(*done->front().error) : "done";
  }
  Result<StoreCopy::Completed> complete() { return copy_.complete(place_, target_.target()); }

  testing::TemporaryDirectory folder_;
  Side source_{folder_.path() + "/source.db"}, target_{folder_.path() + "/target.db"};
  StoreCopy copy_{source_.store(), [](auto&, auto&) {}};
  CopyPlace place_;
};

TEST_F(StoreCopyTest, HasEverythingOfItsSourceAndTheSameDigest) {
  for (const char* id : {"a", "b", "c"}) put(record(id));
  const Version purged = put(record("b", false));
  put(record("c", false));
  ASSERT_TRUE(source_.store().maintain({true, purged}).ok());
  report("a", 1);
  report("c", 2);
  const Incarnation incarnation = source_.store().head()->head.incarnation;
  ASSERT_TRUE(source_.store()
                  .progress({"r1", "agent", "davit", 1, {{"widget", {incarnation, 3}}}, {}, 7})
                  .ok());
  EXPECT_EQ(pass(), "2 2");
  const auto done = complete();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->difference, "");
  EXPECT_EQ(done->counts, (StoreFingerprints::Counts{2, 2, 1}));
  EXPECT_EQ(done->source_digest, done->copy_digest);
  const auto source = source_.store().head(), copy = target_.store().head();
  EXPECT_EQ(copy->head.version, source->head.version);
  EXPECT_EQ(copy->status_head, source->status_head);
  EXPECT_EQ(copy->purged_through, purged);
  EXPECT_TRUE(knows(*target_.store().history(), source->head));
}

TEST_F(StoreCopyTest, GoesOnWithWhatIsNewAndWithWhatAnAgentForgot) {
  put(record("a"));
  put(record("b"));
  report("a", 1);
  ASSERT_TRUE(source_.store().progress({"r1", "gone", "davit", 1, {}, {}, 7}).ok());
  EXPECT_EQ(pass(), "2 1");
  EXPECT_EQ(pass(), "0 0");
  put(record("a", false));
  put(record("c"));
  report("c", 1);
  EXPECT_EQ(pass(), "2 1");
  ASSERT_TRUE(target_.store().progress({"r1", "forgotten", "davit", 1, {}, {}, 7}).ok());
  const auto done = complete();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->difference, "");
  EXPECT_EQ(done->counts, (StoreFingerprints::Counts{3, 2, 1}));
}

TEST_F(StoreCopyTest, IsCutIntoLoadsThatTheTargetTakes) {
  for (int n = 0; n < 10; ++n) put(record("r" + std::to_string(n)));
  for (int n = 0; n < 5; ++n) report("r" + std::to_string(n), 1);
  storage::Limits limits;
  limits.group_records = 3;
  limits.report_statuses = 2;
  EXPECT_EQ(pass(limits), "10 5");
  const auto done = complete();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->difference, "");
}

TEST_F(StoreCopyTest, NamesARecordThatIsTooLargeForTheTarget) {
  put(record("a"));
  storage::Limits limits;
  limits.record_bytes = 10;
  EXPECT_EQ(pass(limits).find("widget \"a\" of region \"r1\" has "), 0u) << pass(limits);
  const auto looked = copy_.catch_up(place_, limits, nullptr);
  EXPECT_FALSE(looked.ok()) << "a dry run finds it, too";
}

TEST_F(StoreCopyTest, IsNotCompletedWhileSomebodyWrites) {
  put(record("a"));
  EXPECT_EQ(pass(), "1 0");
  put(record("b"));
  const auto done = complete();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Code::aborted) << done.error().message;
  EXPECT_EQ(pass(), "1 0");
  EXPECT_TRUE(complete().ok());
}

// Nothing has stopped the source's server, which goes on in the incarnation that the copy knows.
// Both give the same versions to different changes.
TEST_F(StoreCopyTest, RefusesWhatItsSourceHasTakenSince) {
  for (const char* id : {"a", "b"}) put(record(id));
  report("a", 1);
  EXPECT_EQ(pass(), "2 1");
  ASSERT_TRUE(complete().ok());
  const Head copied = *source_.store().head();
  put(record("a", false));
  put(record("x"));
  report("b", 1);
  const Head forked = *source_.store().head();
  ASSERT_EQ(forked.head, (Cursor{copied.head.incarnation, 4}));
  for (const char* id : {"c", "x", "d"}) put(target_, record(id));

  EXPECT_EQ(after({copied.head.incarnation, 1}), "bcxd");
  EXPECT_EQ(after(copied.head), "cxd") << "the stream goes on";
  EXPECT_EQ(after({copied.head.incarnation, 3}), "unknown");
  EXPECT_EQ(after(forked.head), "unknown") << "its agent takes a snapshot";
  EXPECT_EQ(statuses_after({copied.head.incarnation, copied.status_head}), "");
  EXPECT_EQ(statuses_after({copied.head.incarnation, forked.status_head}), "unknown");
  const History history = *target_.store().history();
  EXPECT_TRUE(knows(history, copied.head));
  EXPECT_FALSE(knows(history, forked.head)) << "objects that were made of it are orphaned";

  EXPECT_EQ(expecting("x", forked.head), "stale") << "x has this version here as well";
  EXPECT_EQ(expecting("b", {copied.head.incarnation, 2}), "done");
  Status foreign;
  foreign.key = record("x").key;
  foreign.observed_version = forked.head.version;
  foreign.observed_incarnation = forked.head.incarnation;
  ASSERT_TRUE(target_.store().report_now({foreign}).ok());
  EXPECT_EQ(target_.store().head()->status_head, copied.status_head) << "it is of another x";
}

TEST_F(StoreCopyTest, SaysOnWhichSideItFailed) {
  put(record("a"));
  EXPECT_EQ(pass(), "1 0");
  ASSERT_TRUE(complete().ok());
  put(record("b"));
  const std::string why = pass();
  EXPECT_EQ(why.find("the target: "), 0u) << why;
  EXPECT_NE(why.find("is not loading"), std::string::npos) << why;
}

TEST_F(StoreCopyTest, ThatDiffersIsNotCompleted) {
  put(record("a"));
  put(record("b"));
  EXPECT_EQ(pass(), "2 0");
  Record other = record("b");
  other.version = 3;
  ASSERT_TRUE(target_.moves().load({{other}, {}, ""}).ok());
  const auto done = complete();
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(done->difference,
            "record widget \"b\" of region \"r1\" is missing in the copy, or older there");
  EXPECT_TRUE(target_.moves().load({}).ok()) << "it is loading still";
}

TEST_F(StoreCopyTest, BeginsAnewBehindAPurgeThatItMissedAndInAnotherHistory) {
  put(record("a"));
  put(record("b"));
  EXPECT_EQ(pass(), "2 0");
  EXPECT_TRUE(*copy_.continues(place_));
  const Version dead = put(record("a", false));
  put(record("c"));
  EXPECT_TRUE(*copy_.continues(place_));
  ASSERT_TRUE(source_.store().maintain({true, dead}).ok());
  EXPECT_FALSE(*copy_.continues(place_)) << "nobody says any more that a is deleted";
  CopyPlace elsewhere = place_;
  elsewhere.records = {Incarnation(place_.records.incarnation.value() + 1), 1};
  elsewhere.began_at = dead;
  EXPECT_FALSE(*copy_.continues(elsewhere));
}

TEST_F(StoreCopyTest, GoesOnInTheMiddleOfAScanWhateverWasPurgedBeforeItBegan) {
  for (const char* id : {"a", "b", "c", "d"}) put(record(id));
  const Version dead = put(record("d", false));
  put(record("e"));
  ASSERT_TRUE(source_.store().maintain({true, dead}).ok());
  place_ = {{source_.store().head()->head.incarnation, 1}, {}, dead + 1};
  EXPECT_TRUE(*copy_.continues(place_));
  EXPECT_EQ(pass(), "3 0");
}

TEST(CopyPlaceTest, IsKeptAsText) {
  const CopyPlace place{{Incarnation::max(), 2}, {3, 4}, 5};
  EXPECT_EQ(CopyPlace::parse(place.text()), place);
  for (const char* other : {"", "davit-copy-1", "davit-copy-2 1 2 3 4 5", "davit-copy-1 1 2 3 4"})
    EXPECT_FALSE(CopyPlace::parse(other)) << other;
}

TEST(FingerprintTest, TheFirstDifferenceIsSaid) {
  using Of = Fingerprint::Of;
  const Fingerprint a{Of::record, 1, "a", {1}, {}}, b{Of::record, 2, "b", {1}, {}};
  const Fingerprint status{Of::status, 1, "status", {1}, {}};
  Fingerprint changed = a, with_json = a, other_json = a;
  changed.hash = {2};
  with_json.json = Sha256{1};
  other_json.json = Sha256{2};
  EXPECT_EQ(difference({}, {}), "");
  EXPECT_EQ(difference(a, a), "");
  EXPECT_EQ(difference(a, {}), "a is missing in the copy, or older there");
  EXPECT_EQ(difference(a, b), "a is missing in the copy, or older there");
  EXPECT_EQ(difference(b, status), "b is missing in the copy, or older there");
  EXPECT_EQ(difference(b, a), "a is in the copy, and not in the source");
  EXPECT_EQ(difference({}, status), "status is in the copy, and not in the source");
  EXPECT_EQ(difference(a, changed), "a has another content");
  EXPECT_EQ(difference(a, with_json), "") << "a store may read JSON as empty";
  EXPECT_EQ(difference(with_json, other_json), "a has another content");
}

}  // namespace
}  // namespace davit::host
