// Flags that a slot must understand, as a class sees them that is written with the wrapper: not at
// all. The suites have the same for storage.
#include "davit/flags.hpp"

#include <gtest/gtest.h>

#include "davit/cluster.hpp"
#include "davit/sink.hpp"
#include "davit/storage_schema.hpp"

namespace davit {
namespace {

// Bits that no version of the contract has given away yet.
constexpr uint32_t unknown_critical = 0x80000000u, unknown_hint = 0x8000u;

// Plays four roles, and counts what reaches it.
struct Callee {
  int begins = 0, bookmarks = 0, statuses = 0, watches = 0, migrations = 0;

  Result<sink::Stream*> open(const std::string&, const std::string&, sink::Source) {
    return static_cast<sink::Stream*>(nullptr);
  }
  void begin(sink::Stream*, const sink::Begin& b) { begins += b.snapshot ? 1 : 0; }
  bool offer(sink::Stream*, const sink::Change&) { return true; }
  void bookmark(sink::Stream*, const sink::Bookmark& b) { bookmarks += b.live_count ? 1 : 0; }
  void close(sink::Stream*) {}

  void offer(const Status& s) { statuses += s.gone ? 1 : 0; }
  void advance(const std::string&, const KindProgress&) {}
  void issue(const std::string&, const Issue&) {}

  void request(const Op&, const cluster::Request&, const std::function<void(cluster::Response)>&) {}
  cluster::WatchHandle* watch(const cluster::WatchRequest& q, uint32_t, const cluster::Watcher&) {
    watches += q.metadata_only ? 1 : 0;
    return nullptr;
  }
  void credit(cluster::WatchHandle*, uint32_t) {}
  void cancel(cluster::WatchHandle*) {}
  void discover(const Op&, const std::string&, const std::string&, const std::string&,
                const std::function<void(cluster::Response)>&) {}
  void identity(const Op&, const std::function<void(cluster::Response)>&) {}

  Result<std::vector<std::string>> migrate(const Op&, bool dry_run) {
    migrations += dry_run ? 1 : 0;
    return std::vector<std::string>();
  }

  davit_instance* self() { return reinterpret_cast<davit_instance*>(this); }
};

// What each slot that reads flags answers when it gets these besides those that it knows.
std::string answers(Callee& callee, uint32_t flags) {
  const auto& changes = *static_cast<const davit_change_sink*>(sink::ChangeRole::vtable<Callee>());
  const auto& statuses = *static_cast<const davit_status_sink*>(sink::StatusRole::vtable<Callee>());
  const auto& cluster = *static_cast<const davit_cluster*>(cluster::Role::vtable<Callee>());
  std::string out;
  const auto note = [&out](const Result<>& r) {
    out += (r.ok() ? "ok" : r.error().where) + std::string(" ");
    EXPECT_TRUE(r.ok() || r.error().code == Code::unimplemented);
  };
  const davit_begin begin{sizeof begin, DAVIT_BEGIN_SNAPSHOT | flags, {1, 2}, nullptr, 0};
  note(checked([&](davit_error* e) { return changes.begin(callee.self(), nullptr, &begin, e); }));
  const davit_bookmark mark{sizeof mark, DAVIT_BOOKMARK_COUNTED | flags, {1, 2}, 3};
  note(checked([&](davit_error* e) { return changes.bookmark(callee.self(), nullptr, &mark, e); }));
  Status s;
  s.gone = true;
  StatusView status(s);
  status.abi.flags |= flags;
  note(checked([&](davit_error* e) { return statuses.offer(callee.self(), &status.abi, e); }));
  davit_cluster_watch_request watch{};
  watch.struct_size = sizeof watch;
  watch.flags = DAVIT_WATCH_METADATA_ONLY | flags;
  const davit_cluster_watcher watcher{};
  davit_cluster_watch* handle = nullptr;
  note(checked([&](davit_error* e) {
    return cluster.watch(callee.self(), &watch, 1, &watcher, nullptr, &handle, e);
  }));
  const auto& schema =
      *static_cast<const davit_storage_schema*>(storage::SchemaRole::vtable<Callee>());
  StringSink steps;
  note(checked([&](davit_error* e) {
    return schema.migrate(callee.self(), Op().abi(), DAVIT_MIGRATE_DRY_RUN | flags, steps.get(), e);
  }));
  return out;
}

TEST(Flags, AnUnknownCriticalBitIsRefusedBeforeTheClassHearsOfTheCall) {
  Callee callee;
  EXPECT_EQ(answers(callee, unknown_critical),
            "davit_begin davit_bookmark davit_status davit_cluster_watch_request "
            "davit_storage_schema.migrate ");
  EXPECT_EQ(callee.begins + callee.bookmarks + callee.statuses + callee.watches, 0);
  EXPECT_EQ(callee.migrations, 0);
}

TEST(Flags, AnUnknownHintIsIgnored) {
  Callee callee;
  EXPECT_EQ(answers(callee, unknown_hint), "ok ok ok ok ok ");
  EXPECT_EQ(callee.begins, 1);
  EXPECT_EQ(callee.bookmarks, 1);
  EXPECT_EQ(callee.statuses, 1);
  EXPECT_EQ(callee.watches, 1);
  EXPECT_EQ(callee.migrations, 1);
}

TEST(Flags, TheErrorNamesTheStructAndTheBit) {
  davit_read read{};
  read.flags = DAVIT_READ_LINGERING | DAVIT_CRITICAL(1) | DAVIT_CRITICAL(9);
  const auto r = understood(read);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message,
            "davit_read.flags has bit 17, which is not known here and must not be ignored: install "
            "a newer version");
  EXPECT_EQ(r.error().where, "davit_read");
}

TEST(Flags, TheClientsPassARefusalOn) {
  static davit_cluster refusing =
      *static_cast<const davit_cluster*>(cluster::Role::vtable<Callee>());
  refusing.watch = [](davit_instance*, const davit_cluster_watch_request*, uint32_t,
                      const davit_cluster_watcher*, void*, davit_cluster_watch**, davit_error* e) {
    return fill(e, {Code::unimplemented, "no such watch"});
  };
  Callee callee;
  const auto watch = cluster::Client({callee.self(), &refusing, str("c")})
                         .watch({}, 1, {[](int32_t, std::string_view) {}, [] {}});
  ASSERT_FALSE(watch.ok());
  EXPECT_EQ(watch.error().message, "no such watch");
}

}  // namespace
}  // namespace davit
