// What is committed of a change.
#include "mutations.hpp"

#include <gtest/gtest.h>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

// Has a record at version 5, and keeps what is to be committed.
class KeepingStore : public testing::EmptyStorage {
 public:
  Incarnation incarnation{7};
  std::vector<Group> committed;
  std::vector<size_t> asked;  // queries of each look-up

  Result<Head> head(const Op&) { return Head{{incarnation, 9}, 0, 0}; }
  Result<Head> get(const Op& op, const GetRequest& q, const storage::VisitRecord& visit) {
    asked.push_back(q.queries.size());
    for (const Query& one : q.queries) {
      Record r;
      r.key = one.key;
      r.version = 5;
      r.state = "running";
      visit(r);
    }
    return head(op);
  }
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>& groups) {
    committed.insert(committed.end(), groups.begin(), groups.end());
    return std::vector<GroupResult>(groups.size(), GroupResult{incarnation, 10, 0, std::nullopt});
  }
};

class MutationsTest : public ::testing::Test {
 protected:
  MutationsTest() {
    host_.add_role("main", DAVIT_STORAGE, reinterpret_cast<davit_instance*>(&store_),
                   storage::Role::vtable<KeepingStore>());
  }
  std::vector<Outcome> run(std::vector<Mutations::Group> groups) {
    std::vector<Outcome> out;
    Mutations::run(host_.host(), *storage::Client::find(host_.host(), "main"), std::move(groups),
                   false, outstanding_.begin(),
                   [&out](std::vector<Outcome> outcomes) { out = std::move(outcomes); });
    host_.run();
    return out;
  }

  testing::TestHost host_{"plugin", {}, testing::TestHost::Time::manual};
  KeepingStore store_;
  Outstanding outstanding_;
};

// Otherwise the store could be restored before the commit, and have another version 5 by then.
TEST_F(MutationsTest, ExpectTheVersionOfTheIncarnationThatTheyHaveRead) {
  const auto decide = [](const std::optional<Record>& stored) {
    Decision d;
    d.type = OutcomeType::changed;
    d.mutation = Mutation{*stored, stored->version};
    return d;
  };
  std::vector<Mutations::Group> groups(1);
  groups[0].items.push_back({{"widget", "eu", "a"}, decide});
  EXPECT_EQ(run(std::move(groups)).at(0).type, OutcomeType::changed);
  ASSERT_EQ(store_.committed.size(), 1u);
  const Mutation& m = store_.committed[0].mutations.at(0);
  EXPECT_EQ(m.expect, Version(5));
  EXPECT_EQ(m.expect_incarnation, Incarnation(7));
}

// One look-up for each would take a second for a thousand documents, where the store is a database
// of its own. Not all at once either: their payloads are in memory together.
TEST_F(MutationsTest, ReadTheRecordsOfManyGroupsTogether) {
  std::vector<Mutations::Group> groups(80);
  std::vector<std::string> seen;
  for (size_t n = 0; n < groups.size() * 3; ++n) {
    const std::string id = std::to_string(n);
    groups[n / 3].items.push_back(
        {{"widget", "eu", id}, [&seen, id](const std::optional<Record>& stored) {
           seen.push_back(stored->key.id);
           EXPECT_EQ(stored->key.id, id);
           Decision d;
           d.type = OutcomeType::unchanged;
           return d;
         }});
  }
  const auto outcomes = run(std::move(groups));
  EXPECT_EQ(store_.asked, (std::vector<size_t>{100, 100, 40}));
  EXPECT_EQ(seen.size(), 240u);
  EXPECT_EQ(outcomes.size(), 240u);
  for (const Outcome& o : outcomes) EXPECT_EQ(o.type, OutcomeType::unchanged);
}

}  // namespace
}  // namespace davit::desired
