// Commits, reports and purges of two servers on the same few records. None may fail, wait for the
// other with the counters, or leave rows that do not belong together.
#include <random>
#include <thread>

#include "plugin_under_test.hpp"

namespace davit::storage_postgres {
namespace {

class Interleaving : public WithPostgres {};

constexpr int calls = 60;  // of each thread

// Rows that must not be, by what is wrong with them.
constexpr std::pair<const char*, const char*> rules[] = {
    {"a record is above the head",
     "SELECT id FROM davit.records, davit.store WHERE version < 1 OR version > head"},
    {"a tombstone is below the purge mark",
     "SELECT id FROM davit.records, davit.store WHERE NOT live AND version <= purged_through"},
    {"two live records have one name",
     "SELECT name FROM davit.records WHERE live GROUP BY kind, region, ns, name HAVING count(*) > "
     "1"},
    {"a dead record claims the name of a live one",
     "SELECT d.id FROM davit.records d JOIN davit.records l USING (kind, region, ns, name) WHERE "
     "NOT "
     "d.live AND NOT d.name_taken AND l.live"},
    {"a status is above the head of statuses",
     "SELECT id FROM davit.statuses, davit.store WHERE status_version < 1 OR status_version > "
     "status_head"},
    {"a status is of no record",
     "SELECT s.id FROM davit.statuses s LEFT JOIN davit.records r USING (kind, region, id) WHERE "
     "r.version IS NULL"},
    {"a child is of no status",
     "SELECT c.id FROM davit.children c LEFT JOIN davit.statuses s USING (kind, region, id) WHERE "
     "s.status_version IS NULL"},
    {"a request has a version above the head",
     "SELECT request_id FROM davit.requests, davit.store WHERE first_version > head"},
};

// What one thread does.
class Worker {
 public:
  Worker(const storage::Client& client, uint32_t seed) : client_(client), random_(seed) {}

  void run() {
    for (int i = 0; i < calls; ++i) {
      const uint32_t what = pick(10);
      const Result<> r = what < 6 ? write() : what < 9 ? report() : purge();
      EXPECT_TRUE(r.ok()) << r.error().message;
    }
  }

 private:
  uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  // Names go from one record to another, so commits concern the rows of others.
  Result<> write() {
    std::map<std::string, Mutation> mutations;
    for (uint32_t i = 0, count = 1 + pick(4); i < count; ++i) {
      Record r = record("a" + std::to_string(pick(12)));
      r.name = "name-" + r.key.id;
      r.live = pick(3) != 0;
      if (pick(4) == 0) {
        r.key.id = "b" + std::to_string(pick(12));
        r.name = "name-a" + r.key.id.substr(1);
      }
      mutations[r.key.id] = {r};
    }
    Group g;
    for (const auto& [id, m] : mutations) g.mutations.push_back(m);
    if (pick(2) == 0) g.request_id = std::to_string(random_());
    const auto made = client_.commit_now({g});
    if (!made.ok()) return made.error();
    const auto& error = made->front().error;
    if (error && error->code != Code::already_exists) return *error;
    return {};
  }
  Result<> report() {
    std::vector<Status> all;
    for (uint32_t i = 0, count = 1 + pick(4); i < count; ++i) {
      Status s = status((pick(2) == 0 ? "a" : "b") + std::to_string(pick(12)), "x");
      s.gone = pick(4) == 0;
      s.observed_version = 0;
      s.sequence = random_() % 1'000'000;
      for (uint32_t c = 0; c < pick(4); ++c)
        s.children.push_back({"pod-" + std::to_string(pick(5)), "", "running", pick(9), 0});
      all.push_back(s);
    }
    return client_.report_now(all);
  }
  Result<> purge() {
    const auto head = client_.head();
    if (!head.ok()) return head.error();
    return client_.maintain(
        {true, head->head.version - std::min<uint64_t>(head->head.version.value(), 5)});
  }

  const storage::Client client_;
  std::mt19937 random_;
};

TEST_F(Interleaving, LeavesRowsThatBelongTogether) {
  const std::string database = shared_cluster().database();
  {
    Life one(shared_cluster(), database), two(shared_cluster(), database);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 6; ++i) {
      const storage::Client& client = i % 2 == 0 ? one.client : two.client;
      threads.emplace_back([&client, i] { Worker(client, i).run(); });
    }
    for (auto& thread : threads) thread.join();
  }  // their sessions tell the statistics when they end
  for (const auto& [broken, rows] : rules)
    EXPECT_EQ(shared_cluster().sql(rows, database), "") << broken;
  EXPECT_EQ(shared_cluster().sql("SELECT deadlocks FROM pg_stat_database WHERE datname = '" +
                                 database + "'"),
            "0");
  EXPECT_NE(shared_cluster().sql("SELECT head FROM davit.store", database), "0");
}

}  // namespace
}  // namespace davit::storage_postgres
