// Names of records: an id keeps its name for life, live records of one kind and region have
// different names, and a live record may take over the name of a deleted one.
#include "storage.hpp"

namespace davit::conformance {
namespace {

Record named(const std::string& id, const std::string& name, const std::string& ns = "default") {
  Record r = record(id);
  r.name = name;
  r.ns = ns;
  return r;
}

TEST(StorageNames, ARecordCannotChangeItsNamespaceOrName) {
  Store store;
  const Version v = put(*store, named("a", "one"));
  for (const Record& r : {named("a", "two"), named("a", "one", "other"), dead(named("a", "two"))}) {
    const auto result = commit(*store, {{{r}}, {}});
    ASSERT_TRUE(result.error) << r.ns << "/" << r.name;
    EXPECT_EQ(result.error->code, Code::invalid_argument);
  }
  EXPECT_EQ(get(*store, "a")->version, v);
}

TEST(StorageNames, TwoLiveRecordsOfOneKindAndRegionCannotShareAName) {
  Store store;
  put(*store, named("a", "one"));
  const auto result = commit(*store, {{{named("b", "one")}}, {}});
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, Code::already_exists);
  EXPECT_EQ(result.error->where, "a");
  EXPECT_FALSE(get(*store, "b"));
}

TEST(StorageNames, OtherNamespacesKindsAndRegionsHaveNamesOfTheirOwn) {
  Store store;
  put(*store, named("a", "one"));
  put(*store, named("b", "one", "other"));
  Record kind = named("c", "one"), region = named("d", "one");
  kind.key.kind = "gadget";
  region.key.region = "r2";
  put(*store, kind);
  put(*store, region);
  EXPECT_EQ(read_all(*store).records.size(), 4u);
}

TEST(StorageNames, ADeadRecordKeepsItsNameUntilALiveOneTakesItOver) {
  Store store;
  put(*store, named("a", "one"));
  put(*store, dead(named("a", "one")));
  EXPECT_EQ(get(*store, "a")->name, "one");
  EXPECT_FALSE(get(*store, "a")->live);
  put(*store, named("b", "one"));
  const auto a = get(*store, "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->ns, "");
  EXPECT_EQ(a->name, "");
  EXPECT_FALSE(a->live);
  std::vector<std::string> found;
  auto r = store->get({{"widget", "r1", ""}, "default", "one"}, [&](const davit_record& x) {
    found.push_back(text(x.key.id));
    return true;
  });
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(found, std::vector<std::string>{"b"});
  for (const auto& x : read_all(*store).records)
    EXPECT_EQ(x.name, x.key.id == "b" ? "one" : "") << x.key.id;
}

// Who follows the versions must hear of it, such as a relay or a copy.
TEST(StorageNames, S13_WhoseNameIsTakenOverGetsANewVersion) {
  Store store;
  for (const char* id : {"a", "c"}) {
    put(*store, named(id, std::string("of-") + id));
    put(*store, dead(named(id, std::string("of-") + id)));
  }
  const Cursor before = store->head()->head;
  const auto result =
      commit(*store, {{{record("x")}, {named("b", "of-a")}, {named("d", "of-c")}}, {}});
  ASSERT_FALSE(result.error) << result.error->message;
  const auto news = read_all(*store, before).records;
  ASSERT_EQ(news.size(), 5u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(news[i].key.id == "a" || news[i].key.id == "c") << news[i].key.id;
    EXPECT_FALSE(news[i].live);
    EXPECT_EQ(news[i].name, "");
    EXPECT_EQ(news[i].payload, "payload");
    EXPECT_EQ(get(*store, news[i].key.id)->version, news[i].version);
    EXPECT_LT(news[i].version, result.first_version);
  }
  EXPECT_EQ(news[2].version, result.first_version);
  EXPECT_EQ(store->head()->head.version, result.first_version + 2);
  EXPECT_EQ(read_all(*store).records.size(), 5u) << "each is read once";
}

TEST(StorageNames, ANameIsTakenOverWithinOneGroup) {
  Store store;
  put(*store, named("a", "one"));
  const auto result = commit(*store, {{{dead(named("a", "one"))}, {named("b", "one")}}, {}});
  ASSERT_FALSE(result.error) << result.error->message;
  EXPECT_EQ(get(*store, "a")->name, "");
  EXPECT_EQ(get(*store, "b")->name, "one");
}

TEST(StorageNames, AGroupThatFailsTakesNoNameOver) {
  Store store;
  const Version version = put(*store, dead(named("a", "one")));
  const auto result = commit(*store, {{{named("b", "one")}, {record("absent"), 9}}, {}});
  ASSERT_TRUE(result.error);
  EXPECT_EQ(get(*store, "a")->version, version);
  EXPECT_EQ(store->head()->head.version, version);
  EXPECT_EQ(get(*store, "a")->name, "one");
}

TEST(StorageNames, ADeadRecordComesBackUnderItsOwnNameOnly) {
  Store store;
  put(*store, dead(named("a", "one")));
  const auto other = commit(*store, {{{named("a", "two")}}, {}});
  ASSERT_TRUE(other.error);
  EXPECT_EQ(other.error->code, Code::invalid_argument);
  put(*store, named("a", "one"));
  EXPECT_TRUE(get(*store, "a")->live);
  EXPECT_EQ(get(*store, "a")->name, "one");
}

TEST(StorageNames, ARecordWhoseNameWasTakenComesBackWhenItIsFreeAgain) {
  Store store;
  put(*store, dead(named("a", "one")));
  put(*store, named("b", "one"));
  const auto taken = commit(*store, {{{named("a", "one")}}, {}});
  ASSERT_TRUE(taken.error);
  EXPECT_EQ(taken.error->code, Code::already_exists);
  EXPECT_EQ(taken.error->where, "b");
  put(*store, dead(named("b", "one")));
  put(*store, named("a", "one"));
  EXPECT_EQ(get(*store, "a")->name, "one");
  EXPECT_EQ(get(*store, "b")->name, "");
}

TEST(StorageNames, ADeadRecordWithoutItsNameMayBeWrittenAgain) {
  Store store;
  put(*store, dead(named("a", "one")));
  put(*store, named("b", "one"));
  Record a = *get(*store, "a");
  a.state = "deleted";
  put(*store, a);
  EXPECT_EQ(get(*store, "a")->state, "deleted");
  EXPECT_EQ(get(*store, "a")->name, "");
  EXPECT_EQ(get(*store, "b")->name, "one");
}

TEST(StorageNames, ADeadRecordIsWrittenBesideALiveOneOfItsNameWithoutIt) {
  Store store;
  put(*store, named("b", "one"));
  put(*store, dead(named("a", "one")));
  EXPECT_EQ(get(*store, "a")->name, "");
  EXPECT_EQ(get(*store, "b")->name, "one");
}

std::vector<std::string> found_by_name(Store& store, const std::string& name) {
  std::vector<std::string> found;
  const auto r = store->get({{"widget", "r1", ""}, "default", name}, [&](const davit_record& x) {
    found.push_back(text(x.key.id));
    return true;
  });
  EXPECT_TRUE(r.ok()) << why(r);
  return found;
}

TEST(StorageNames, ADeadRecordIsFoundByItsName) {
  Store store;
  put(*store, named("a", "one"));
  put(*store, dead(named("a", "one")));
  EXPECT_EQ(found_by_name(store, "one"), std::vector<std::string>{"a"});
}

TEST(StorageNames, S7_APurgedRecordLeavesItsName) {
  Store store;
  const Version version = put(*store, dead(named("a", "one")));
  ASSERT_TRUE(store->maintain({true, version}).ok());
  EXPECT_TRUE(found_by_name(store, "one").empty());
  EXPECT_EQ(put(*store, named("b", "one")), version + 1) << "nobody had to give the name away";
  EXPECT_EQ(found_by_name(store, "one"), std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace davit::conformance
