// The table of intents as other programs see it, and the election of the server that leads. The
// conformance suite proves the rules of the roles; here is what only this database has.
#include <thread>

#include "davit/storage_election.hpp"
#include "davit/storage_intents.hpp"
#include "heard.hpp"

namespace davit::storage_postgres {
namespace {

storage::Intents intents_of(Life& life) {
  return storage::Intents(life.instance.ref(DAVIT_STORAGE_INTENTS));
}
bool leads(Life& life) {
  return storage::Election(life.instance.ref(DAVIT_STORAGE_ELECTION)).leads();
}
bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 600; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

class IntentsTest : public OnDatabase {
 protected:
  void SetUp() override {
    OnDatabase::SetUp();
    if (!IsSkipped()) life_ = std::make_unique<Life>(shared_cluster(), database_);
  }
  // Inserts as another program does, and returns the id.
  uint64_t insert(const std::string& document) {
    return std::stoull(
        sql("INSERT INTO davit.intents (document) VALUES ('" + document + "') RETURNING id"));
  }
  std::string row(uint64_t id) {
    return sql(
        "SELECT concat_ws('|', state, version, code, field, error) FROM davit.intents WHERE "
        "id = " +
        std::to_string(id));
  }
  std::vector<uint64_t> open() {
    std::vector<uint64_t> out;
    const auto all = intents_of(*life_).open(Op(), 0, 100);
    EXPECT_TRUE(all.ok());
    for (const auto& intent : *all) out.push_back(intent.id);
    return out;
  }
  GroupResult carry_out(const std::string& record_id, uint64_t intent) {
    Group g = group(record_id);
    g.intent = intent;
    return life_->client.commit_now({g})->front();
  }
  std::unique_ptr<Life> life_;
};

TEST_F(IntentsTest, WhoInsertsSaysTheDocumentAndNothingElse) {
  sql("CREATE ROLE billing");
  sql("GRANT USAGE ON SCHEMA davit TO billing");
  sql("GRANT INSERT, SELECT ON davit.intents TO billing");
  sql("SET ROLE billing; INSERT INTO davit.intents (document, author, created_at, decided_at, "
      "version, incarnation, code, field, error) VALUES ('{}', 'davit', 'epoch', now(), 1, 2, 'c', "
      "'f', 'e')");
  EXPECT_EQ(sql("SELECT concat_ws('|', author, state, created_at > 'epoch', version, code, field, "
                "error) FROM davit.intents"),
            "billing|open|t");
  const auto all = intents_of(*life_).open(Op(), 0, 100);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().author, "billing");
  EXPECT_EQ(all->front().document, "{}");
  sql("DROP OWNED BY billing; DROP ROLE billing");
}

TEST_F(IntentsTest, ARowOfATransactionThatIsRolledBackIsNoIntent) {
  sql("BEGIN; INSERT INTO davit.intents (document) VALUES ('{}'); ROLLBACK");
  EXPECT_TRUE(open().empty());
}

TEST_F(IntentsTest, TheOutcomeShowsWhatBecameOfIt) {
  const uint64_t made = insert("a"), failed = insert("b"), found = insert("c"), gone = insert("d");
  EXPECT_EQ(open(), (std::vector{made, failed, found, gone}));
  const auto result = carry_out("a", made);
  ASSERT_FALSE(result.error);
  EXPECT_EQ(row(made), "done|" + to_string(result.first_version));
  EXPECT_EQ(sql("SELECT incarnation FROM davit.intents WHERE id = " + std::to_string(made)),
            to_string(result.incarnation));
  const auto settle = [&](const storage::IntentOutcome& outcome) {
    const auto r = intents_of(*life_).settle(Op(), outcome);
    EXPECT_TRUE(r.ok()) << r.error().message;
  };
  settle({failed, Error{Code::invalid_argument, "is not known", "region"}});
  settle({found, std::nullopt, {result.incarnation, result.first_version}});
  settle({gone});
  EXPECT_EQ(row(failed), "failed|INVALID_ARGUMENT|region|is not known");
  EXPECT_EQ(row(found), "done|" + to_string(result.first_version));
  EXPECT_EQ(row(gone), "done");
  EXPECT_TRUE(open().empty());
}

TEST_F(IntentsTest, TwoIntentsOfOneCommitAreCarriedOutAndATwinIsRefused) {
  const uint64_t one = insert("a"), two = insert("b");
  Group a = group("a"), b = group("b"), twin = group("c");
  a.intent = twin.intent = one;
  b.intent = two;
  const auto results = life_->client.commit_now({a, b, twin});
  ASSERT_TRUE(results.ok());
  EXPECT_FALSE(results->at(0).error);
  EXPECT_FALSE(results->at(1).error);
  ASSERT_TRUE(results->at(2).error);
  EXPECT_EQ(results->at(2).error->code, Code::failed_precondition);
  EXPECT_EQ(row(two), "done|" + to_string(results->at(1).first_version));
  EXPECT_EQ(ids(life_->client), (std::vector<std::string>{"a", "b"}));
}

// As a program does that deletes its intents in a transaction and hangs.
TEST_F(IntentsTest, ARowThatSomebodyKeepsLockedHoldsNobodyElseUp) {
  const uint64_t locked = insert("a"), free = insert("b");
  pqxx::connection theirs(shared_cluster().connection(database_));
  pqxx::work transaction(theirs);
  transaction.exec("DELETE FROM davit.intents WHERE id = " + std::to_string(locked));
  Group a = group("a"), b = group("b"), c = group("c");
  a.intent = locked;
  b.intent = free;
  const auto results = life_->client.commit_now({a, b, c});
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_TRUE(results->at(0).error);
  EXPECT_EQ(results->at(0).error->code, Code::unavailable) << "it may be tried again";
  EXPECT_FALSE(results->at(1).error);
  EXPECT_FALSE(results->at(2).error);
  const auto settled = intents_of(*life_).settle(Op(), {locked});
  ASSERT_FALSE(settled.ok());
  EXPECT_EQ(settled.error().code, Code::unavailable);
  transaction.commit();
  EXPECT_EQ(carry_out("a", locked).error->code, Code::failed_precondition) << "it was withdrawn";
  EXPECT_EQ(ids(life_->client), (std::vector<std::string>{"b", "c"}));
}

TEST_F(IntentsTest, APageOfLargeDocumentsIsShort) {
  sql("INSERT INTO davit.intents (document) SELECT repeat('x', 3145728) FROM generate_series(1, "
      "4)");
  std::vector<size_t> pages;
  for (uint64_t after = 0; pages.size() < 10;) {
    const auto page = intents_of(*life_).open(Op(), after, 100);
    ASSERT_TRUE(page.ok()) << page.error().message;
    if (page->empty()) break;
    pages.push_back(page->size());
    after = page->back().id;
  }
  EXPECT_EQ(pages, (std::vector<size_t>{2, 2}));
  EXPECT_THROW(sql("INSERT INTO davit.intents (document) VALUES (repeat('x', 3145729))"),
               std::exception);
}

TEST_F(IntentsTest, WhatWasDecidedLongAgoIsForgottenAndWhatIsOpenIsNot) {
  testing::Config config = storage_postgres::config(shared_cluster(), database_);
  config.set({"intent_retention_ms", 3'600'000});
  Life hour(config);
  ASSERT_TRUE(hour.up.ok()) << hour.up.error().message;
  const uint64_t old = insert("a"), fresh = insert("b"), waits = insert("c");
  for (const uint64_t id : {old, fresh}) EXPECT_TRUE(intents_of(hour).settle(Op(), {id}).ok());
  sql("UPDATE davit.intents SET decided_at = now() - interval '61 minutes', created_at = "
      "'epoch' WHERE id = " +
      std::to_string(old));
  ASSERT_TRUE(hour.client.maintain({}).ok());
  EXPECT_EQ(sql("SELECT string_agg(id::text, ' ' ORDER BY id) FROM davit.intents"),
            std::to_string(fresh) + " " + std::to_string(waits));
}

TEST_F(IntentsTest, AnInsertIsHintedToEveryServer) {
  Life other(shared_cluster(), database_);
  Heard here(life_->client), there(other.client);
  ASSERT_TRUE(eventually([&] {
    here.forget(), there.forget();
    insert("a");
    return here.wait(DAVIT_HINT_INTENTS, 200ms) && there.wait(DAVIT_HINT_INTENTS, 200ms);
  }));
}

TEST_F(IntentsTest, OneServerLeadsAndTheNextWhenItEnds) {
  ASSERT_TRUE(eventually([&] { return leads(*life_); }));
  Life other(shared_cluster(), database_);
  Heard heard(other.client);
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(leads(other));
  EXPECT_TRUE(leads(*life_));
  life_.reset();
  EXPECT_TRUE(heard.wait(DAVIT_HINT_LEADER, 30s));
  EXPECT_TRUE(leads(other));
}

// The server frees the locks of a connection that it ends.
TEST_F(IntentsTest, WhoLosesItsConnectionLeadsNoLonger) {
  ASSERT_TRUE(eventually([&] { return leads(*life_); }));
  shared_cluster().sql("ALTER DATABASE " + database_ + " ALLOW_CONNECTIONS false");
  shared_cluster().sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" +
                       database_ + "'");
  EXPECT_TRUE(eventually([&] { return !leads(*life_); }));
}

TEST_F(IntentsTest, StoresOfOtherSchemasHaveALeaderOfTheirOwn) {
  ASSERT_TRUE(eventually([&] { return leads(*life_); }));
  testing::Config config = storage_postgres::config(shared_cluster(), database_);
  config.set({"schema", "other"});
  Life other(config);
  EXPECT_TRUE(eventually([&] { return leads(other); }));
  EXPECT_TRUE(leads(*life_));
}

}  // namespace
}  // namespace davit::storage_postgres
