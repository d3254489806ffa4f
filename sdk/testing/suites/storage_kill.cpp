// S4: a process that writes and reads is killed (SIGKILL) again and again, at random moments.
// Acknowledged groups must exist, every group must be whole or absent, and a repeated request must
// settle a group whose result is unknown. The reader's cursor must be valid in the next process:
// over all processes the reader misses no record and reads none twice.
//
// The process is this tool again: `--child storage-writer DIRECTORY SESSION INCARNATION VERSION`.
// It writes what it does to its standard output, in lines:
//   T group size               it tries to commit the group
//   A group version            the group is acknowledged
//   R version id               it has read the record; this counts once the next C line has come
//   C incarnation version      the cursor after the records read
//   E text                     an error
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "killed.hpp"
#include "storage.hpp"

namespace davit::conformance {
namespace {

using std::chrono::steady_clock;

std::string id_of(const std::string& group, size_t i) {
  return group + "-" + std::to_string(i);
}

Group group_of(const std::string& name, size_t size) {
  Group group;
  group.request_id = name;
  for (size_t i = 0; i < size; ++i)
    group.mutations.push_back({record(id_of(name, i), std::string(200, 'x'))});
  return group;
}

// --- the child ---

void write_for_ever(storage::Client client, Teller& teller, const std::string& writer) {
  std::mt19937_64 random(random_seed());
  for (int serial = 0;; ++serial) {
    std::vector<Group> groups;
    std::string tried;
    for (size_t g = 0, count = 1 + random() % 3; g < count; ++g) {
      const std::string name = writer + "g" + std::to_string(serial) + "." + std::to_string(g);
      groups.push_back(group_of(name, 1 + random() % 12));
      tried += "T " + name + " " + std::to_string(groups.back().mutations.size()) + "\n";
      if (random() % 5 == 0) {  // a group that fails half-way must leave nothing
        Group fails = group_of(name + "fails", 3);
        fails.mutations.push_back({record(name + "never"), 999'999'999});
        groups.push_back(fails);
      }
    }
    teller.tell(tried);
    auto results = client.commit_now(groups);
    if (!results.ok()) return teller.tell("E " + results.error().message + "\n");
    std::string acknowledged;
    for (size_t g = 0; g < groups.size(); ++g) {
      if ((*results)[g].error) continue;
      acknowledged +=
          "A " + groups[g].request_id + " " + to_string((*results)[g].first_version) + "\n";
    }
    teller.tell(acknowledged);
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  }
}

void follow_for_ever(storage::Client& client, Teller& teller, Cursor cursor) {
  while (true) {
    std::string told;
    auto page = client.read({{}, cursor, {}, 50, UINT64_MAX}, [&](const davit_record& r) {
      told += "R " + std::to_string(r.version) + " " + text(r.key.id) + "\n";
      return true;
    });
    if (!page.ok()) return teller.tell("E reader: " + page.error().message + "\n");
    const Cursor next{page->head.head.incarnation, page->next_version};
    if (next == cursor) continue;
    cursor = next;
    teller.tell(told + "C " + to_string(cursor.incarnation) + " " + to_string(cursor.version) +
                "\n");
  }
}

int writer_main(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments.at(0);
  const std::string& session = arguments.at(1);
  const Cursor cursor{Incarnation(std::stoull(arguments.at(2))),
                      Version(std::stoull(arguments.at(3)))};
  Teller teller;
  TestHost host("subject", config_in(directory));
  Instance instance(subject().plugin.plugin(), host);
  if (auto r = instance.up(); !r.ok()) {
    teller.tell("E start: " + r.error().message + "\n");
    return 1;
  }
  storage::Client client(host, instance.ref(DAVIT_STORAGE));
  const uint32_t threads = std::min(instance.plugin()->max_concurrency, 4u);
  std::vector<std::thread> writers;
  for (uint32_t w = 1; w < threads; ++w) {
    writers.emplace_back(write_for_ever, client, std::ref(teller),
                         "s" + session + "w" + std::to_string(w));
  }
  if (threads == 1) write_for_ever(client, teller, "s" + session);
  follow_for_ever(client, teller, cursor);
  for (auto& t : writers) t.join();
  return 1;
}
const ChildProgram writer("storage-writer", &writer_main);

// --- the parent ---

// What all children have written, and where the next reader continues.
struct Ledger {
  std::map<std::string, size_t> tried;
  std::map<std::string, Version> acknowledged;
  std::map<Version, std::string> seen;
  std::vector<std::pair<Version, std::string>> page;  // read, but its C line has not come yet
  uint64_t disorder = 0;
  Cursor cursor;
  std::vector<std::string> errors;

  void line(const std::string& line) {
    std::istringstream in(line.substr(2));
    std::string name;
    uint64_t number = 0;
    if (line[0] == 'T' && in >> name >> number) tried[name] = number;
    if (line[0] == 'A' && in >> name >> number) acknowledged[name] = Version(number);
    if (line[0] == 'R' && in >> number >> name) page.emplace_back(Version(number), name);
    if (uint64_t version = 0; line[0] == 'C' && in >> number >> version) {
      cursor = {Incarnation(number), Version(version)};
      turn_page();
    }
    if (line[0] == 'E') errors.push_back(line);
  }
  void turn_page() {
    for (const auto& [version, id] : page) {
      disorder += !seen.empty() && version <= seen.rbegin()->first;
      EXPECT_TRUE(seen.emplace(version, id).second) << "version " << version << " was read twice";
    }
    page.clear();
  }
  void text(std::string_view told) {
    while (true) {
      const size_t end = told.find('\n');
      if (end == std::string_view::npos) break;  // cut by the kill
      if (end >= 2) line(std::string(told.substr(0, end)));
      told.remove_prefix(end + 1);
    }
    page.clear();  // without its C line, so the next process reads it again
  }
};

// Whether the child has come so far that its time begins. A child that tells an error goes no
// further.
bool has_come_far(std::string_view told, size_t acknowledged) {
  if (told.empty() || told.starts_with("E ")) return !told.empty();
  if (told.find("\nE ") != std::string_view::npos) return true;
  size_t count = 0;
  for (size_t at = 0; (at = told.find("\nA ", at)) != std::string_view::npos; ++at) ++count;
  return count >= acknowledged;
}

// abi/storage.h says how long a store knows a request id. Older groups are not repeated.
constexpr uint64_t repeated_within = 90'000;  // versions

// The first version of a group, or nothing when the store has none of it. Part of a group is a
// failure.
std::optional<Version> whole_group(Store& store, const std::string& name, size_t size) {
  size_t there = 0;
  Version first;
  for (size_t i = 0; i < size; ++i) {
    const auto r = get(*store, id_of(name, i));
    if (!r) continue;
    if (i == 0) first = r->version;
    EXPECT_EQ(r->version, first + i) << name;
    ++there;
  }
  EXPECT_TRUE(there == 0 || there == size)
      << name << " has " << there << " of " << size << " records";
  return there == 0 ? std::nullopt : std::optional(first);
}

TEST(StorageTorture, S4_NothingIsLostWhenItsProcessIsKilled) {
  if (ends_with_the_process()) GTEST_SKIP() << "this configuration keeps nothing over a kill";
  Store store;  // creates the directory and the first incarnation
  store.stop();
  Ledger books;
  std::mt19937_64 random(random_seed());
  int sessions = 0;
  const auto until = steady_clock::now() + torture_time();
  while (steady_clock::now() < until || sessions < 4) {
    // Every other child is killed at any moment, also before its first commit.
    const size_t acknowledged = sessions % 2 == 0 ? 1 + random() % 8 : 0;
    const Life life{[=](std::string_view told) { return has_come_far(told, acknowledged); },
                    std::chrono::milliseconds(random() % 250)};
    const std::vector<std::string> arguments = {
        store.fresh().directory(), std::to_string(++sessions), to_string(books.cursor.incarnation),
        to_string(books.cursor.version)};
    books.text(run_and_kill("storage-writer", arguments, life));
    ASSERT_TRUE(books.errors.empty()) << books.errors.front();
  }
  store.start();
  for (const auto& r : read_all(*store, books.cursor).records)
    books.page.emplace_back(r.version, r.key.id);
  books.turn_page();

  uint64_t lost = 0, settled = 0;
  for (const auto& [name, size] : books.tried) {
    const auto first = whole_group(store, name, size);
    const auto acknowledged = books.acknowledged.find(name);
    if (acknowledged != books.acknowledged.end()) {
      lost += first != acknowledged->second;
      continue;
    }
    const Version head = store->head()->head.version;
    if (first && *first + repeated_within < head) continue;
    const auto again = commit(*store, group_of(name, size));
    ASSERT_FALSE(again.error) << again.error->message;
    ++settled;
    if (!first) continue;
    EXPECT_EQ(again.first_version, *first)
        << "a repeated request was answered otherwise than the first time";
    EXPECT_EQ(store->head()->head.version, head);
  }
  ASSERT_FALSE(books.acknowledged.empty()) << "nothing was written";
  ASSERT_FALSE(books.seen.empty())
      << "nothing was read of " << books.acknowledged.size() << " groups that were acknowledged";
  uint64_t unseen = 0, failed = 0;
  for (const auto& r : read_all(*store, {}, {}, 1000).records) {
    unseen += r.version <= books.seen.rbegin()->first && books.seen.count(r.version) == 0;
    failed +=
        r.key.id.find("fails") != std::string::npos || r.key.id.find("never") != std::string::npos;
  }
  EXPECT_EQ(lost, 0u) << "acknowledged groups are missing";
  EXPECT_EQ(unseen, 0u) << "records that the reader has passed and never saw";
  EXPECT_EQ(books.disorder, 0u);
  EXPECT_EQ(failed, 0u) << "records of groups that failed";
  std::cout << "[          ] " << sessions << " kills, " << books.acknowledged.size()
            << " groups acknowledged, " << settled << " settled by a repeated request, "
            << books.seen.size() << " records read\n";
}

}  // namespace
}  // namespace davit::conformance
