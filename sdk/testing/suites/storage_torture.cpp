// S2 and S4 under load: many writers with random pauses, groups that fail, and a reader without
// pauses. The reader must miss no record, read none twice, and see versions in strict order.
// DAVIT_TORTURE_SECONDS makes the tests longer.
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <semaphore>
#include <set>
#include <thread>

#include "storage.hpp"

namespace davit::conformance {

std::chrono::milliseconds torture_time() {
  const char* seconds = std::getenv("DAVIT_TORTURE_SECONDS");
  return seconds == nullptr ? std::chrono::milliseconds(2500)
                            : std::chrono::seconds(std::atoi(seconds));
}

namespace {

using std::chrono::steady_clock;
constexpr int writers = 6;
// A slow store gets the time that it needs for some groups of each writer.
constexpr int groups_min = 20;

void pause(std::mt19937& random) {
  if (random() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
}

// Lets at most max_concurrency calls run at once, as the host does.
class Gate {
 public:
  explicit Gate(uint32_t size) : slots_(std::min<uint32_t>(size, 64)) {}
  template <class F>
  auto operator()(F call) {
    slots_.acquire();
    struct Leave {
      std::counting_semaphore<64>& slots;
      ~Leave() { slots.release(); }
    } leave{slots_};
    return call();
  }

 private:
  std::counting_semaphore<64> slots_;
};

// What the writers have committed, for comparison with what the reader has seen.
struct Books {
  std::mutex mutex;
  std::map<Version, std::string> committed;  // version -> id
  std::map<std::string, Version> latest;     // id -> version
  std::set<std::string> failed;              // ids that must never be seen

  void add(const Group& group, Version first) {
    const std::lock_guard lock(mutex);
    for (const auto& m : group.mutations) {
      EXPECT_TRUE(committed.emplace(first, m.record.key.id).second)
          << "version " << first << " was given twice";
      latest[m.record.key.id] = first++;
    }
  }
};

// Groups of every size: with new records, with earlier records of the same writer, and groups that
// cannot commit.
std::vector<Group> random_groups(std::mt19937& random, const std::string& writer, int& serial,
                                 Books& books, std::vector<size_t>& failing) {
  std::vector<Group> groups(1 + random() % 4);
  for (size_t g = 0; g < groups.size(); ++g) {
    const bool fails = random() % 8 == 0;
    const size_t size = random() % 4 == 0 ? 1 + random() % 30 : 1 + random() % 2;
    for (size_t i = 0; i < size; ++i) {
      // An earlier id of the same writer, old enough that one call has no id twice.
      const int number = ++serial;
      const bool again = !fails && number > 500 && random() % 4 == 0;
      const std::string id =
          writer + (fails ? "-fails-" : "-") + std::to_string(again ? number - 400 : number);
      if (fails) {
        const std::lock_guard lock(books.mutex);
        books.failed.insert(id);
      }
      const Record r = record(id, std::to_string(number));
      groups[g].mutations.push_back({again && random() % 3 == 0 ? dead(r) : r});
    }
    if (fails) {
      groups[g].mutations.push_back({record(writer + "-never-" + std::to_string(serial)), 12345});
      failing.push_back(g);
    }
  }
  return groups;
}

void write(Store& store, Gate& gate, Books& books, int number, steady_clock::time_point until) {
  std::mt19937 random(static_cast<uint32_t>(random_seed()));
  int serial = 0;
  for (int committed = 0; committed < groups_min || steady_clock::now() < until;) {
    std::vector<size_t> failing;
    const auto groups = random_groups(random, "w" + std::to_string(number), serial, books, failing);
    auto results = gate([&] { return store->commit_now(groups); });
    ASSERT_TRUE(results.ok()) << why(results);
    for (size_t g = 0; g < groups.size(); ++g) {
      const bool fails = std::find(failing.begin(), failing.end(), g) != failing.end();
      const auto& result = (*results)[g];
      ASSERT_EQ(result.error.has_value(), fails)
          << (result.error ? result.error->message : "a group did not fail");
      if (fails) continue;
      books.add(groups[g], result.first_version);
      ++committed;
    }
    pause(random);
  }
}

// What the reader has seen, and what was wrong with it.
struct Heard {
  std::map<Version, std::string> versions;
  uint64_t disorder = 0, duplicates = 0;
  void add(Version version, const std::string& id) {
    if (!versions.empty() && version <= versions.rbegin()->first) ++disorder;
    if (!versions.emplace(version, id).second) ++duplicates;
  }
};

// Reads from its cursor until the writers are done and the head is reached. At times it purges all
// that it has passed, as a server does. The purge must not remove anything that it has not read.
void follow(Store& store, Gate& gate, const std::atomic<bool>& done, Heard& seen) {
  std::mt19937 random(static_cast<uint32_t>(random_seed()));
  Cursor cursor;
  while (true) {
    const bool last = done;
    auto page = gate([&] {
      return store->read({{}, cursor, 0, 1 + static_cast<uint32_t>(random() % 60), UINT64_MAX},
                         [&](const davit_record& r) {
                           return seen.add(Version(r.version), text(r.key.id)), true;
                         });
    });
    ASSERT_TRUE(page.ok()) << why(page);
    ASSERT_GE(page->next_version, cursor.version);
    cursor = {page->head.head.incarnation, page->next_version};
    if (random() % 50 == 0) {
      const auto purged = gate([&] { return store->maintain({true, cursor.version}); });
      ASSERT_TRUE(purged.ok()) << why(purged);
    }
    if (last && !page->more) return;
  }
}

TEST(StorageTorture, S2_NothingArrivesLateWhileManyWrite) {
  Store store;
  Gate gate(store.max_concurrency());
  Books books;
  Heard seen;
  std::atomic<bool> done{false};
  const auto until = steady_clock::now() + torture_time();
  std::vector<std::thread> threads;
  std::thread reader([&] { follow(store, gate, done, seen); });
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&, i] { write(store, gate, books, i, until); });
  for (auto& t : threads) t.join();
  done = true;
  reader.join();

  uint64_t lost = 0, unknown = 0, failed = 0;
  for (const auto& [id, version] : books.latest) lost += seen.versions.count(version) == 0;
  for (const auto& [version, id] : seen.versions) {
    const auto at = books.committed.find(version);
    unknown += at == books.committed.end() || at->second != id;
    failed += books.failed.count(id);
  }
  EXPECT_EQ(lost, 0u) << "of " << books.latest.size() << " records";
  EXPECT_EQ(seen.duplicates, 0u);
  EXPECT_EQ(seen.disorder, 0u);
  EXPECT_EQ(unknown, 0u) << "read, but never answered as committed under that version";
  EXPECT_EQ(failed, 0u) << "read, though their groups failed";
  EXPECT_GE(books.committed.size(), size_t{writers} * groups_min);
  std::cout << "[          ] " << books.committed.size() << " versions of " << books.latest.size()
            << " records\n";
}

constexpr int records_each = 20;

void commit_records_of_each_writer(Store& store) {
  for (int w = 0; w < writers; ++w) {
    Group group;
    for (int i = 0; i < records_each; ++i) {
      group.mutations.push_back({record(std::to_string(w) + "-" + std::to_string(i))});
    }
    ASSERT_FALSE(commit(*store, group).error);
  }
}

TEST(StorageTorture, S2_NoStatusArrivesLateWhileManyReport) {
  Store store;
  Gate gate(store.max_concurrency());
  commit_records_of_each_writer(store);
  std::map<std::string, uint64_t> seen, reported;
  std::mutex mutex;
  std::atomic<bool> done{false};
  uint64_t disorder = 0;
  std::thread reader([&] {
    Cursor after;
    while (true) {
      const bool last = done;
      const Cursor before = after;
      Version latest = after.version;
      auto page = gate([&] {
        return store->statuses({{}, after, 13}, [&](const davit_status& s) {
          disorder += Version(s.status_version) <= latest;
          latest = Version(s.status_version);
          seen[text(s.key.id)] = s.sequence;
          return true;
        });
      });
      ASSERT_TRUE(page.ok()) << why(page);
      after = page->next;
      if (last && after == before) return;
    }
  });
  const auto until = steady_clock::now() + torture_time() / 2;
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      std::mt19937 random(static_cast<uint32_t>(random_seed()));
      uint64_t sequence = 0;
      while (steady_clock::now() < until) {
        std::map<std::string, Status> batch;
        for (size_t i = 0, size = 1 + random() % 5; i < size; ++i) {
          const std::string id = std::to_string(w) + "-" + std::to_string(random() % records_each);
          batch[id] = status(id, ++sequence);
        }
        std::vector<Status> statuses;
        for (const auto& [id, s] : batch) statuses.push_back(s);
        auto r = gate([&] { return store->report_now(statuses); });
        ASSERT_TRUE(r.ok()) << why(r);
        {
          const std::lock_guard lock(mutex);
          for (const auto& s : statuses) reported[s.key.id] = s.sequence;
        }
        pause(random);
      }
    });
  }
  for (auto& t : threads) t.join();
  done = true;
  reader.join();
  uint64_t lost = 0;
  for (const auto& [id, sequence] : reported) lost += seen[id] != sequence;
  EXPECT_EQ(lost, 0u) << "of " << reported.size() << " statuses";
  EXPECT_EQ(disorder, 0u);
}

}  // namespace
}  // namespace davit::conformance
