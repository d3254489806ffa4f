// Which record a change means, when it says less than a name and a namespace.
#include "record_table.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

sink::Change change(sink::ChangeType type, const std::string& ns, Version version) {
  sink::Change c;
  c.type = type;
  c.ns = ns;
  c.name = "edge";
  c.version = version;
  return c;
}

TEST(RecordTable, FindsTheNamespaceThatADeleteDoesNotName) {
  RecordTable desired(0, 1);
  RecordEntry& entry = desired.at("context", "edge");
  EXPECT_EQ(desired.accept(change(sink::ChangeType::remove, "", 5)).entry, &entry);
  EXPECT_EQ(entry.intent, Intent::remove);
}

TEST(RecordTable, MeansTheObjectsThatAreSeenAfterADeleteThatDoesNotNameTheirNamespace) {
  RecordTable desired(0, 1);
  RecordEntry* entry = desired.accept(change(sink::ChangeType::remove, "", 5)).entry;
  EXPECT_EQ(&desired.at("context", "edge"), entry);
  EXPECT_EQ(entry->ns, "context");
  EXPECT_EQ(desired.size(), 1u);
  desired.erase(*entry);
  EXPECT_EQ(desired.size(), 0u);
  EXPECT_EQ(desired.at("context", "edge").intent, Intent::unknown);
}

TEST(RecordTable, DeletesAndAppliesOneRecordInOrderWhateverTheyName) {
  RecordTable desired(0, 1);
  RecordEntry* entry = desired.accept(change(sink::ChangeType::remove, "", 5)).entry;
  const auto applied = desired.accept(change(sink::ChangeType::apply, "context", 6));
  EXPECT_EQ(applied.entry, entry);
  EXPECT_EQ(applied.superseded, std::vector<Version>{5});
  EXPECT_EQ(entry->intent, Intent::apply);
}

// All are to be said gone once nothing stands under the name.
TEST(RecordTable, WhoHadANameBeforeIsRemembered) {
  using Before = std::vector<RecordEntry::Predecessor>;
  RecordTable desired(0, 1);
  const auto as = [](const std::string& id, sink::Change c) {
    c.key.id = id;
    return c;
  };
  RecordEntry* entry =
      desired.accept(as("a", change(sink::ChangeType::remove, "context", 5))).entry;
  desired.accept(as("b", change(sink::ChangeType::remove, "context", 6)));
  EXPECT_EQ(entry->id, "b");
  EXPECT_EQ(entry->predecessors, (Before{{"a", 5, true}}));
  desired.accept(as("c", change(sink::ChangeType::apply, "context", 7)));
  desired.accept(as("", change(sink::ChangeType::remove, "context", 8)));
  EXPECT_EQ(entry->predecessors, (Before{{"a", 5, true}, {"b", 6, true}}));
  desired.accept(as("a", change(sink::ChangeType::apply, "context", 9)));
  EXPECT_EQ(entry->predecessors, (Before{{"b", 6, true}, {"c", 8, true}}));
  for (uint64_t i = 0; i < 200; ++i) {
    desired.accept(
        as("n" + std::to_string(i), change(sink::ChangeType::apply, "context", Version(10 + i))));
  }
  EXPECT_EQ(entry->predecessors.size(), 100u);
  EXPECT_EQ(entry->predecessors.back().id, "n198");
}

TEST(RecordTable, TheStateAndTheAnnotationsBelongToTheIntent) {
  RecordTable desired(0, 1);
  auto c = change(sink::ChangeType::apply, "context", 7);
  c.state = "draining";
  c.annotations = {{"team", "a"}};
  const RecordEntry& entry = *desired.accept(c).entry;
  EXPECT_EQ(entry.record_state, "draining");
  EXPECT_EQ(entry.annotations, c.annotations);
  EXPECT_FALSE(desired.accept(c).work);
  c.annotations = {{"team", "b"}};  // a restored store gives the same version to another change
  EXPECT_TRUE(desired.accept(c).work);
}

TEST(RecordTable, KnowsTheSlotsOfARecordWhateverBecomesOfThem) {
  RecordTable desired(0, 1);
  auto first = change(sink::ChangeType::apply, "context", 5);
  first.key.id = "a";
  RecordEntry& entry = *desired.accept(first).entry;
  EXPECT_EQ(desired.of_record("a"), &entry);
  EXPECT_TRUE(desired.lives("a"));
  desired.taken_over("a", 4);
  EXPECT_TRUE(desired.lives("a")) << "it has been revived since";
  desired.taken_over("a", 6);
  EXPECT_FALSE(desired.lives("a"));
  auto next = change(sink::ChangeType::apply, "context", 7);
  next.key.id = "b";
  desired.accept(next);
  EXPECT_EQ(desired.of_record("a"), nullptr);
  EXPECT_EQ(entry.predecessors, (std::vector<RecordEntry::Predecessor>{{"a", 6, true}}));
  EXPECT_TRUE(desired.lives("b"));
  desired.erase(entry);
  EXPECT_EQ(desired.of_record("b"), nullptr);
}

TEST(RecordTable, ADeleteGetsItsNameBackWhenTheRecordThatTookItDiedFirst) {
  const auto as = [](const char* id, sink::Change c) {
    c.key.id = id;
    return c;
  };
  RecordTable desired(0, 1);
  desired.begin(true, 41);
  const auto nameless = [&](const char* id) {
    auto c = as(id, change(sink::ChangeType::remove, "", 9));
    c.name.clear();
    return desired.restore_name(c) ? c.ns + "/" + c.name : "none";
  };
  desired.accept(as("a", change(sink::ChangeType::apply, "context", 5)));
  EXPECT_EQ(nameless("a"), "none") << "the record that took the name is still to come";
  desired.accept(as("b", change(sink::ChangeType::remove, "context", 6)));
  EXPECT_EQ(nameless("a"), "context/edge");
  EXPECT_EQ(nameless("b"), "none");
  auto live = as("b", change(sink::ChangeType::apply, "", 9));
  live.name.clear();
  EXPECT_TRUE(desired.restore_name(live)) << "only a delete is a death";
  EXPECT_EQ(live.name, "");
  desired.begin(false, 42);
  EXPECT_EQ(nameless("a"), "none") << "another history may know another end of that record";
  desired.begin(false, 41);
  desired.accept(as("a", change(sink::ChangeType::apply, "context", 7)));
  EXPECT_EQ(nameless("a"), "none") << "it lived on, and another record may have the name since";
}

// Work that an earlier stream asked for may wait until a restored store has begun its own: stamped
// as that one's, it would be pruned when that one does not name it.
TEST(RecordTable, AWishIsOfTheStoreThatSaidSo) {
  RecordTable desired(1, 1);
  EXPECT_TRUE(desired.begin(true, 41));
  const RecordEntry& entry = *desired.accept(change(sink::ChangeType::apply, "context", 7)).entry;
  EXPECT_FALSE(desired.begin(true, 41));
  EXPECT_TRUE(desired.begin(true, 42));
  EXPECT_EQ(entry.incarnation, Incarnation(41));
  EXPECT_EQ(desired.accept(change(sink::ChangeType::apply, "context", 7)).entry, &entry);
  EXPECT_EQ(entry.incarnation, Incarnation(42));
}

}  // namespace
}  // namespace davit::applier
