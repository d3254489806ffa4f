// Objects of dead records that appear later: an apply that an earlier process had sent, one that
// somebody repeats, a backup of the cluster.
#include "prune_world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

// An apply that an earlier process had sent, or a backup of the cluster.
TEST(Arrivals, RemovesWhatComesBackAfterItsRecordDied) {
  PruneWorld w;
  json::value late = json::parse(w.without_uid("drop"));
  w.remove("drop", 12);
  w.wait();
  EXPECT_EQ(w.replica_sets(), "keep");
  for (const char* version : {"11", "99"}) {
    late.at("metadata").at("annotations").as_object()["davit.dev/version"] = version;
    w.create(json::serialize(late));
    w.wait(3s);
    const std::string expected = version == std::string("11") ? "keep" : "drop keep";
    EXPECT_EQ(w.replica_sets(), expected) << "the later one may only be seen too early";
    EXPECT_EQ(w.issues["drop"], "");
    w.wait(2min);
    EXPECT_EQ(w.replica_sets(), expected);
  }
  w.expect_orphan();
}

// A backup of the cluster that is restored brings many at once.
TEST(Arrivals, LeavesWhatComesBackInNumbersToTheResync) {
  PruneWorld w({{"prune_always_allowed", 2}, {"prune_share_max_percent", 70}});
  const std::vector<std::string> names{"a", "b", "c"};
  Version version = 20;
  for (const auto& name : names) w.apply(name, ++version);
  w.wait();
  std::map<std::string, std::string> copies;
  for (const auto& name : names) copies[name] = w.without_uid(name);
  for (const auto& name : names) w.remove(name, ++version);
  w.wait();
  ASSERT_EQ(w.replica_sets(), "drop keep");
  for (const auto& name : names) w.create(copies[name]);
  w.wait(3s);
  EXPECT_EQ(w.replica_sets(), "a b c drop keep");
  w.wait(2min);
  EXPECT_EQ(w.replica_sets(), "drop keep") << "together they are no more than the share";
  for (const char* left : {"drop keep", "drop keep", "c drop keep"}) {
    w.create(copies[left[0] == 'c' ? "c" : "a"]);
    w.wait(3s);
    EXPECT_EQ(w.replica_sets(), left) << "two between resyncs";
  }
}

}  // namespace
}  // namespace davit::applier::test
