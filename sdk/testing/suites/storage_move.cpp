// Copies of a whole store (abi/storage_move.h), for a storage that takes them.
#include "davit/storage_move.hpp"

#include "storage.hpp"

namespace davit::conformance {
namespace {

// An instance whose store the test finds or makes, created and not started.
class Mover {
 public:
  explicit Mover(const std::string& directory) : host_("subject", config_in(directory)) {
    made_ = instance_.create();
    EXPECT_TRUE(made_.ok()) << why(made_);
  }
  ~Mover() {
    const bool ended = !instance_.started() || instance_.stop().ok();
    EXPECT_TRUE(ended);
  }
  storage::Moves moves() { return storage::Moves(instance_.ref(DAVIT_STORAGE_MOVE)); }
  storage::Client store() { return {host_.host(), instance_.ref(DAVIT_STORAGE)}; }
  Result<> start() { return instance_.start(); }
  const davit_storage_move* table() {
    return instance_.role<davit_storage_move>(DAVIT_STORAGE_MOVE);
  }
  davit_instance* self() { return instance_.get(); }

 private:
  TestHost host_;
  Instance instance_{subject().plugin.plugin(), host_};
  Result<> made_;
};

class StorageMove : public ::testing::Test {
 protected:
  void SetUp() override {
    if (subject().plugin.plugin() == nullptr || !plays())
      GTEST_SKIP() << "this storage takes no copies";
    if (ends_with_the_process() && !takes_copies())
      GTEST_SKIP() << "this configuration takes no copies";
  }
  // False: it refuses every copy, as one in memory does.
  bool takes_copies() {
    const auto looked = Mover(folder_.path()).moves().begin({.look = true});
    return looked.ok() || looked.error().code != Code::failed_precondition;
  }
  bool plays() {
    Fresh fresh;
    return fresh.instance().role<void>(DAVIT_STORAGE_MOVE) != nullptr;
  }
  // One that is loading.
  std::unique_ptr<Mover> loading() {
    auto out = std::make_unique<Mover>(folder_.path());
    const auto begun = out->moves().begin();
    EXPECT_TRUE(begun.ok()) << why(begun);
    const auto started = out->start();
    EXPECT_TRUE(started.ok()) << why(started);
    return out;
  }
  testing::TemporaryDirectory folder_;
};

constexpr Incarnation first{0x7000'0000'0000'0001u}, second{0x8000'0000'0000'0001u};
const History history_of_source = {{first, 40}, {second, 57}};

Record at(Record r, Version version) {
  r.version = version;
  r.committed_at_unix_ms = 1'700'000'000'000 + static_cast<int64_t>(version.value());
  r.request_id = "request";
  r.author = "somebody";
  r.annotations = {{"a", "1"}, {"b", "\"2\""}};
  return r;
}
Status at(Status s, Version version) {
  s.status_version = version;
  s.observed_version = 33;
  s.reported_at_unix_ms = 1'700'000'000'001;
  s.message = "message";
  s.detail = "{}";
  s.children = {{"pod", "10.0.0.1", "running", 100, 64}};
  return s;
}
// A live one, a deleted one, and a deleted one whose name another record has.
storage::Load source() {
  Record nameless = at(dead(record("taken")), 56);
  nameless.ns.clear();
  nameless.name.clear();
  return {{at(record("live"), 33), at(dead(record("dead"), "deleted"), 41), nameless},
          {at(status("live", 7), 5), at(status("dead", 8), 9)},
          "a note"};
}
const storage::LoadEnd end_of_source{history_of_source, 12};

std::string shown(const Record& r) {
  std::string out = r.key.kind + " " + r.key.region + " " + r.key.id + " " + r.ns + "/" + r.name +
                    " " + r.state + " " + to_string(r.version) + (r.live ? " live " : " dead ") +
                    r.payload + " " + std::to_string(r.committed_at_unix_ms) + " " + r.author +
                    " " + r.request_id;
  for (const auto& [key, value] : r.annotations) out += " " + key + "=" + value;
  return out;
}
std::string shown(const Status& s) {
  std::string out = s.key.id + " " + to_string(s.status_version) + " " +
                    to_string(s.observed_version) + " " + to_string(s.epoch) + "." +
                    std::to_string(s.sequence) + " " + s.message + " " + s.detail + " " +
                    std::to_string(s.reported_at_unix_ms) + (s.gone ? " gone" : "");
  for (const Child& c : s.children) out += " " + c.name + c.address + c.status;
  return out;
}
template <class T>
std::vector<std::string> all_shown(const std::vector<T>& of) {
  std::vector<std::string> out;
  for (const T& one : of) out.push_back(shown(one));
  return out;
}

TEST_F(StorageMove, M4_WhatIsLoadedIsReadAsItWasGiven) {
  const auto target = loading();
  const storage::Load given = source();
  const auto loaded = target->moves().load(given);
  ASSERT_TRUE(loaded.ok()) << why(loaded);
  auto client = target->store();
  EXPECT_EQ(all_shown(read_all(client).records), all_shown(given.records));
  EXPECT_EQ(all_shown(read_statuses(client)), all_shown(given.statuses));
  const auto finished = target->moves().finish(end_of_source);
  ASSERT_TRUE(finished.ok()) << why(finished);
  EXPECT_EQ(all_shown(read_all(client).records), all_shown(given.records));
  EXPECT_EQ(all_shown(read_statuses(client)), all_shown(given.statuses));
}

TEST_F(StorageMove, M4_ALaterStateTakesThePlaceOfAnEarlierOne) {
  const auto target = loading();
  ASSERT_TRUE(target->moves().load(source()).ok());
  Status later = at(status("live", 9), 11);
  later.children.clear();
  const storage::Load more{{at(dead(record("live"), "deleted"), 50)}, {later}, "later"};
  ASSERT_TRUE(target->moves().load(more).ok());
  auto client = target->store();
  EXPECT_EQ(ids(read_all(client).records), (std::vector<std::string>{"dead", "live", "taken"}));
  EXPECT_EQ(shown(*get(client, "live")), shown(more.records.front()));
  const auto statuses = read_statuses(client);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(shown(statuses.back()), shown(later));
}

TEST_F(StorageMove, M3_ALoadThatIsRepeatedChangesNothing) {
  const auto target = loading();
  for (int times = 0; times < 2; ++times) {
    const auto loaded = target->moves().load(source());
    ASSERT_TRUE(loaded.ok()) << why(loaded);
  }
  auto client = target->store();
  EXPECT_EQ(all_shown(read_all(client).records), all_shown(source().records));
  EXPECT_EQ(all_shown(read_statuses(client)), all_shown(source().statuses));
}

TEST_F(StorageMove, M5_TheCopyGoesOnWhereTheSourceEnded) {
  const auto target = loading();
  ASSERT_TRUE(target->moves().load(source()).ok());
  ASSERT_TRUE(target->moves().finish(end_of_source).ok());
  auto client = target->store();
  History now = history(client);
  ASSERT_GE(now.size(), 3u);
  EXPECT_TRUE(std::equal(history_of_source.begin(), history_of_source.end(), now.begin()));
  EXPECT_EQ(now.back().version, Version(57));
  EXPECT_NE(now.back().incarnation, second);
  const auto head = client.head();
  ASSERT_TRUE(head.ok()) << why(head);
  EXPECT_EQ(head->head, now.back());
  EXPECT_EQ(head->status_head, Version(12));
  for (const Cursor kept : {Cursor{first, 40}, Cursor{second, 57}, Cursor{second, 1}})
    EXPECT_TRUE(read_after(client, kept).ok()) << kept.incarnation << " " << kept.version;
  expect_refused(client, {first, 41});
  expect_refused(client, {second, 58});
  EXPECT_TRUE(read_statuses_after(client, {second, 12}).ok());
  expect_refused_status(client, {second, 13});
}

TEST_F(StorageMove, M5_VersionsGoOnAndExpectationsOfTheSourceHold) {
  const auto target = loading();
  ASSERT_TRUE(target->moves().load(source()).ok());
  ASSERT_TRUE(target->moves().finish(end_of_source).ok());
  auto client = target->store();
  const auto changed = commit(client, {{{record("live", "new"), 33, first}}, {}});
  ASSERT_FALSE(changed.error) << changed.error->message;
  EXPECT_EQ(changed.first_version, Version(58));
  EXPECT_EQ(changed.incarnation, history(client).back().incarnation);
  Status next = status("live", 1, 2);
  next.observed_version = 57;
  next.observed_incarnation = second;
  ASSERT_TRUE(client.report_now({next}).ok());
  EXPECT_EQ(read_statuses(client).back().status_version, Version(13));
  expect_refused(client, {second, 58});
}

TEST_F(StorageMove, M5_FinishRemovesStatusesWithoutARecord) {
  const auto target = loading();
  storage::Load given = source();
  given.statuses.push_back(at(status("never loaded", 1), 10));
  ASSERT_TRUE(target->moves().load(given).ok());
  ASSERT_TRUE(target->moves().finish(end_of_source).ok());
  auto client = target->store();
  EXPECT_EQ(read_statuses(client).size(), 2u);
  put(client, record("never loaded"));
  EXPECT_EQ(read_statuses(client).size(), 2u);
}

TEST_F(StorageMove, ACopyThatIsLoadingTakesProgressAndPurges) {
  const auto target = loading();
  ASSERT_TRUE(target->moves().load(source()).ok());
  auto client = target->store();
  Progress agent{"r1", "agent", "davit", 3, {{"widget", {second, 55}}}, {}, 5};
  ASSERT_TRUE(client.progress(agent).ok());
  ASSERT_TRUE(client.maintain({true, 41}).ok());
  ASSERT_TRUE(target->moves().finish(end_of_source).ok());
  EXPECT_EQ(ids(read_all(client).records), (std::vector<std::string>{"live", "taken"}));
  EXPECT_EQ(client.head()->purged_through, Version(41));
  std::string seen;
  ASSERT_TRUE(client
                  .agents({},
                          [&](const davit_progress& p) {
                            seen += text(p.agent) + std::to_string(p.kinds[0]->applied.version);
                            return true;
                          })
                  .ok());
  EXPECT_EQ(seen, "agent55");
}

TEST_F(StorageMove, M2_OnlyWhoHasBegunMayLoad) {
  const auto target = loading();
  ASSERT_TRUE(target->moves().load(source()).ok());
  ASSERT_TRUE(target->moves().finish(end_of_source).ok());
  const auto late = target->moves().load(source());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::failed_precondition) << why(late);
  const auto again = target->moves().finish(end_of_source);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::failed_precondition) << why(again);
}

TEST_F(StorageMove, M2_NothingStartsOnACopyThatIsNotComplete) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  const storage::Load half{{source().records.front()}, {}, "half"};
  ASSERT_TRUE(loading()->moves().load(half).ok());
  {
    Mover server(folder_.path());
    const auto started = server.start();
    ASSERT_FALSE(started.ok());
    EXPECT_EQ(started.error().code, Code::failed_precondition) << why(started);
    Mover observer(folder_.path());
    ASSERT_TRUE(observer.moves().observe(false).ok());
    EXPECT_FALSE(observer.start().ok()) << "it is no source either";
  }
  {
    Mover goes_on(folder_.path());
    EXPECT_EQ(goes_on.moves().begin({.look = true}).value(), "half");
    EXPECT_EQ(goes_on.moves().begin().value(), "half");
    ASSERT_TRUE(goes_on.start().ok());
    auto client = goes_on.store();
    EXPECT_EQ(all_shown(read_all(client).records), all_shown(half.records));
    ASSERT_TRUE(goes_on.moves().load(source()).ok());
    ASSERT_TRUE(goes_on.moves().finish(end_of_source).ok());
  }
  Mover server(folder_.path());
  const auto started = server.start();
  ASSERT_TRUE(started.ok()) << why(started);
  auto client = server.store();
  EXPECT_EQ(all_shown(read_all(client).records), all_shown(source().records));
  EXPECT_TRUE(read_after(client, {second, 57}).ok());
}

TEST_F(StorageMove, BeginAnewForgetsWhatWasLoaded) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  ASSERT_TRUE(loading()->moves().load(source()).ok());
  Mover target(folder_.path());
  EXPECT_EQ(target.moves().begin({.anew = true}).value(), "");
  ASSERT_TRUE(target.start().ok());
  auto client = target.store();
  EXPECT_TRUE(read_all(client).records.empty());
  EXPECT_TRUE(read_statuses(client).empty());
}

TEST_F(StorageMove, AStoreWithContentTakesNoCopyAndStaysAsItIs) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  {
    Mover server(folder_.path());
    ASSERT_TRUE(server.start().ok());
    auto client = server.store();
    put(client, record("a"));
  }
  for (const storage::LoadBegin how :
       {storage::LoadBegin{true, false}, {false, false}, {false, true}}) {
    Mover target(folder_.path());
    const auto begun = target.moves().begin(how);
    ASSERT_FALSE(begun.ok());
    EXPECT_EQ(begun.error().code, Code::already_exists) << why(begun);
  }
  Mover server(folder_.path());
  ASSERT_TRUE(server.start().ok());
  auto client = server.store();
  EXPECT_TRUE(get(client, "a"));
}

TEST_F(StorageMove, M1_WhoObservesChangesNothing) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Mover server(folder_.path());
  ASSERT_TRUE(server.start().ok());
  auto client = server.store();
  put(client, record("a"));
  const History before = history(client);
  {
    Mover observer(folder_.path());
    ASSERT_TRUE(observer.moves().observe(false).ok());
    const auto started = observer.start();
    ASSERT_TRUE(started.ok()) << why(started);
    auto observed = observer.store();
    EXPECT_EQ(history(observed), before);
    EXPECT_TRUE(get(observed, "a"));
    put(client, record("b"));
    EXPECT_TRUE(get(observed, "b")) << "it sees what its owner writes";
    const auto written = observed.commit_now({{{{record("c")}}, {}}});
    const bool refused = !written.ok() || written->front().error.has_value();
    EXPECT_TRUE(refused);
    EXPECT_FALSE(observed.report_now({status("a", 1)}).ok());
    EXPECT_FALSE(observed.maintain({true, 1}).ok());
    if (!is_exclusive()) return;
    Mover alone(folder_.path());
    ASSERT_TRUE(alone.moves().observe(true).ok());
    const auto second_start = alone.start();
    ASSERT_FALSE(second_start.ok());
    EXPECT_EQ(second_start.error().code, Code::unavailable) << why(second_start);
  }
  EXPECT_FALSE(get(client, "c"));
  EXPECT_EQ(history(client).size(), before.size());
}

TEST_F(StorageMove, ThereIsNothingToObserveInAStoreThatIsNotThere) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a restart";
  Mover observer(folder_.path());
  const auto observed = observer.moves().observe(false);
  const auto started = observed.ok() ? observer.start() : observed;
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::failed_precondition) << why(started);
}

TEST_F(StorageMove, AnUnknownCriticalFlagIsRefused) {
  Mover target(folder_.path());
  constexpr uint32_t unknown = 0x80000000u;
  StringSink note;
  const auto begun = checked([&](davit_error* e) {
    return target.table()->begin(target.self(), Op().abi(), unknown, note.get(), e);
  });
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, Code::unimplemented) << why(begun);
  const auto observed = checked([&](davit_error* e) {
    return target.table()->observe(target.self(), Op().abi(), unknown, e);
  });
  ASSERT_FALSE(observed.ok());
  EXPECT_EQ(observed.error().code, Code::unimplemented) << why(observed);
}

}  // namespace
}  // namespace davit::conformance
