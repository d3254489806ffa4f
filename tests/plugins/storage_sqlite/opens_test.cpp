// What many starts leave behind, as of a server that crashes again and again.
#include <unistd.h>

#include <cstdlib>

#include "davit/storage_chain.hpp"
#include "plugin_under_test.hpp"

namespace davit::storage_sqlite {
namespace {

// Thousands of flushes to a disk take a minute. This is about the chain, so its file is in memory
// where the machine has such a folder.
struct Folder {
  const std::optional<std::string> before = [] {
    const char* set = std::getenv("TMPDIR");
    const auto old = set == nullptr ? std::nullopt : std::optional<std::string>(set);
    if (access("/dev/shm", W_OK | X_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    return old;
  }();
  const testing::TemporaryDirectory directory;
  Folder() { before ? setenv("TMPDIR", before->c_str(), 1) : unsetenv("TMPDIR"); }
};

// Cursors of a reader that has everything.
struct Place {
  Cursor records, statuses;
  explicit Place(const storage::Client& client) {
    const auto head = client.head();
    EXPECT_TRUE(head.ok()) << head.error().message;
    if (!head.ok()) return;
    records = head->head;
    statuses = {head->head.incarnation, head->status_head};
  }
};

Code read_from(const storage::Client& client, Cursor cursor) {
  ReadRequest request;
  request.cursor = cursor;
  auto r = client.read(request, [](const davit_record&) { return true; });
  return r.ok() ? Code::ok : r.error().code;
}

Code read_statuses_from(const storage::Client& client, Cursor cursor) {
  auto r = client.statuses({{}, cursor}, [](const davit_status&) { return true; });
  return r.ok() ? Code::ok : r.error().code;
}

TEST(Opens, ThousandsOfThemLeaveATrimmedChainThatRefusesWhatItHasForgotten) {
  constexpr size_t opens = 2 * storage::Chain::links_max + 100;
  const Folder folder;
  const std::string path = folder.directory.path() + "/davit.db";
  std::vector<Place> places;
  for (size_t i = 0; i < opens; ++i) {
    Life life(path, 0);
    ASSERT_TRUE(life.up.ok()) << life.up.error().message;
    if (i % 100 == 0) {
      ASSERT_EQ(commit(life.client, group("a", std::to_string(i))), "");
      Status s = status("a", std::to_string(i));
      s.sequence = i + 1;
      ASSERT_TRUE(life.client.report_now({s}).ok());
    }
    // Whoever is told of the history makes the incarnation lasting.
    const auto told = life.client.history();
    ASSERT_TRUE(told.ok()) << told.error().message;
    ASSERT_EQ(told->size(), std::min(i + 1, storage::Chain::links_max));
    places.emplace_back(life.client);
  }
  Life life(path, 0);
  EXPECT_EQ(life.client.history()->size(), storage::Chain::links_max);
  const size_t oldest = opens + 1 - storage::Chain::links_max;  // that is kept
  EXPECT_EQ(life.client.history()->front().incarnation, places[oldest].records.incarnation);
  for (const size_t i : {size_t{0}, oldest - 1, oldest, opens - 1}) {
    const Code expected = i < oldest ? Code::out_of_range : Code::ok;
    EXPECT_EQ(read_from(life.client, places[i].records), expected) << i;
    EXPECT_EQ(read_statuses_from(life.client, places[i].statuses), expected) << i;
  }
  // A status of a forgotten incarnation may speak of another history.
  Status s = status("a", "old");
  s.observed_version = places[0].records.version;
  s.observed_incarnation = places[0].records.incarnation;
  s.sequence = opens + 1;
  const Version before = life.client.head()->status_head;
  ASSERT_TRUE(life.client.report_now({s}).ok());
  EXPECT_EQ(life.client.head()->status_head, before);
}

}  // namespace
}  // namespace davit::storage_sqlite
