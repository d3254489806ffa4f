// Commits of many writers, each of one record and each waiting for its own: by a storage behind the
// host's commit queue, and by what others do with the same table. A writer is no thread, as it is
// none in a server: the answer to a commit begins the next one. Each command prints the records/s
// of SECONDS.
//
//   store MODULE WRITERS SECONDS   by a storage plugin; its settings, a line each, on stdin
//   sequence CONNECTION WRITERS SECONDS
//       a transaction a record, whose version is the next of a sequence. It is the form that loses
//       changes: a lower version may become visible after a higher one
//   counter CONNECTION WRITERS SECONDS
//       a transaction a record, whose version is the next of a row that each commit locks
//   sqlite FILE AT_ONCE SECONDS
//       one writer, transactions of so many records, on a file of the store
#include <libpq-fe.h>
#include <poll.h>
#include <sqlite3.h>

#include <atomic>
#include <deque>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <davit/storage.hpp>
#include <davit/testing/module.hpp>

#include "commands.hpp"
#include "runtime/pool.hpp"
#include "services/commit_queue.hpp"

namespace davit::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned records_each = 50;  // that a writer changes in turn
const std::string payload(400, 'p'), json = R"({"content":")" + std::string(400, 'j') + "\"}";

std::string id_of(unsigned writer, uint64_t serial) {
  return "w" + std::to_string(writer) + "-" + std::to_string(serial % records_each);
}

Clock::duration seconds(const std::string& text) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::stod(text)));
}

int print_rate(uint64_t count, Clock::time_point begin) {
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::printf("{\"records_s\": %.1f}\n", static_cast<double>(count) / took.count());
  return 0;
}

// Those that commit to a storage.
class Writers {
 public:
  explicit Writers(host::CommitQueue& queue) : queue_(queue) {}

  int run(unsigned count, const std::string& time) {
    const auto begin = Clock::now();
    std::deque<Writer> writers;
    for (unsigned n = 0; n < count; ++n) writers.push_back({*this, n, 0});
    waiting_ = count;
    for (Writer& writer : writers) commit(writer);
    std::this_thread::sleep_for(seconds(time));
    over_ = true;
    for (unsigned left = waiting_; left > 0; left = waiting_) waiting_.wait(left);
    if (failed_) throw std::runtime_error("a commit failed");
    return print_rate(committed_, begin);
  }

 private:
  struct Writer {
    Writers& all;
    unsigned number;
    uint64_t serial;
  };

  void commit(Writer& writer) {
    Mutation m;
    m.record.key = {"deployment", "eu", id_of(writer.number, writer.serial++)};
    m.record.ns = "shop";
    m.record.name = m.record.key.id;
    m.record.state = "running";
    m.record.author = "bench";
    m.record.payload = payload;
    m.record.json = json;
    queue_.commit({Op(), Group{{std::move(m)}}, &done, &writer});
  }
  static void done(void* self, const davit_group_result* result) {
    auto& writer = *static_cast<Writer*>(self);
    Writers& all = writer.all;
    all.failed_ = all.failed_ || result->error.code != DAVIT_OK;
    ++all.committed_;
    if (!all.over_ && !all.failed_) return all.commit(writer);
    --all.waiting_;
    all.waiting_.notify_all();
  }

  host::CommitQueue& queue_;
  std::atomic<uint64_t> committed_{0};
  std::atomic<unsigned> waiting_{0};
  std::atomic<bool> over_{false}, failed_{false};
};

testing::Config settings() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  auto config = testing::Config::parse(text);
  if (!config.ok()) throw std::runtime_error(config.error().message);
  return *config;
}

int store(const Arguments& a) {
  const auto loaded = testing::Loaded::open(a[0]);
  if (!loaded.ok()) throw std::runtime_error(loaded.error().message);
  testing::TestHost host("main", settings());
  testing::Instance instance(loaded->plugin(), host);
  if (auto up = instance.up(); !up.ok()) throw std::runtime_error(up.error().message);
  host::Pool pool("main", loaded->plugin()->max_concurrency);
  int code = 0;
  {
    host::CommitQueue queue(instance.ref(DAVIT_STORAGE), pool);
    code = Writers(queue).run(static_cast<unsigned>(std::stoul(a[1])), a[2]);
    pool.shutdown(Clock::now() + std::chrono::seconds(30));
  }
  (void)instance.stop();
  return code;
}

// --- the peers in PostgreSQL, on a table like the store's ---

class Connection {
 public:
  explicit Connection(const std::string& text) : connection_(PQconnectdb(text.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) fail();
  }
  ~Connection() { PQfinish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run(const std::string& sql) { check(PQexec(connection_, sql.c_str())); }
  void prepare(const std::string& sql) {
    check(PQprepare(connection_, "write", sql.c_str(), 3, nullptr));
  }
  int socket() const { return PQsocket(connection_); }
  void begin_write(const std::string& id) {
    const char* values[] = {id.c_str(), payload.c_str(), json.c_str()};
    if (PQsendQueryPrepared(connection_, "write", 3, values, nullptr, nullptr, 0) == 0) fail();
  }
  // What has come is read. True: the write has ended.
  bool has_written() {
    if (PQconsumeInput(connection_) == 0) fail();
    while (PQisBusy(connection_) == 0) {
      PGresult* result = PQgetResult(connection_);
      if (result == nullptr) return true;
      check(result);
    }
    return false;
  }

 private:
  void check(PGresult* result) {
    const auto status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail();
  }
  [[noreturn]] void fail() { throw std::runtime_error(PQerrorMessage(connection_)); }
  PGconn* connection_;
};

// One writer on each of the connections.
int write_on(std::deque<Connection>& connections, const std::string& time) {
  std::vector<pollfd> sockets;
  for (Connection& c : connections) sockets.push_back({c.socket(), POLLIN, 0});
  std::vector<uint64_t> serials(connections.size(), 0);
  const auto write = [&](unsigned writer) {
    connections[writer].begin_write(id_of(writer, serials[writer]++));
  };
  const auto begin = Clock::now(), end = begin + seconds(time);
  for (unsigned n = 0; n < sockets.size(); ++n) write(n);
  uint64_t count = 0;
  while (Clock::now() < end) {
    if (poll(sockets.data(), sockets.size(), -1) < 0) throw std::runtime_error("poll failed");
    for (unsigned n = 0; n < sockets.size(); ++n) {
      if (sockets[n].revents == 0 || !connections[n].has_written()) continue;
      ++count;
      write(n);
    }
  }
  return print_rate(count, begin);
}

// `version` is an expression; `before` stands before the statement.
int on_postgres(const Arguments& a, const std::string& before, const std::string& version) {
  {
    Connection c(a[0]);
    c.run("DROP TABLE IF EXISTS peer, peer_counter");
    c.run("DROP SEQUENCE IF EXISTS peer_versions");
    c.run("CREATE TABLE peer (LIKE davit.records INCLUDING ALL)");
    c.run("CREATE SEQUENCE peer_versions");
    c.run("CREATE TABLE peer_counter AS SELECT 0::bigint AS version");
  }
  const auto writers = static_cast<unsigned>(std::stoul(a[1]));
  std::deque<Connection> connections;
  for (unsigned n = 0; n < writers; ++n) {
    Connection& c = connections.emplace_back(a[0]);
    c.run("SET synchronous_commit = on");
    c.prepare(before +
              "INSERT INTO peer (version, live, name_taken, committed_at, kind, region, id, ns, "
              "name, state, author, request_id, json, payload) SELECT " +
              version +
              ", true, false, now(), 'deployment', 'eu', $1, 'shop', $1, 'running', 'bench', '', "
              "$3::jsonb, $2::text::bytea ON CONFLICT (kind, region, id) DO UPDATE SET version = "
              "excluded.version, committed_at = excluded.committed_at, json = excluded.json, "
              "payload = excluded.payload");
  }
  return write_on(connections, a[2]);
}

int sequence(const Arguments& a) {
  return on_postgres(a, "", "nextval('peer_versions')");
}
int counter(const Arguments& a) {
  return on_postgres(a,
                     "WITH c AS (UPDATE peer_counter SET version = version + 1 RETURNING version) ",
                     "(SELECT version FROM c)");
}

// --- the peer in SQLite ---

int sqlite(const Arguments& a) {
  sqlite3* handle = nullptr;
  const auto check = [&](int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
      throw std::runtime_error(sqlite3_errmsg(handle));
  };
  const auto run = [&](const char* sql) {
    check(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr));
  };
  check(sqlite3_open(a[0].c_str(), &handle));
  run("PRAGMA synchronous = FULL");
  sqlite3_stmt* insert = nullptr;
  check(sqlite3_prepare_v2(
      handle,
      "INSERT OR REPLACE INTO records VALUES (?1, 1, 0, 0, 'deployment', 'eu', ?2, 'shop', ?2, "
      "'running', 'bench', '', NULL, ?3, ?4)",
      -1, &insert, nullptr));
  const auto at_once = std::stoul(a[1]);
  uint64_t version = 1'000'000;
  const auto begin = Clock::now(), end = begin + seconds(a[2]);
  uint64_t count = 0;
  for (; Clock::now() < end; count += at_once) {
    run("BEGIN IMMEDIATE");
    for (unsigned n = 0; n < at_once; ++n) {
      const std::string id = id_of(n, count / at_once);
      sqlite3_bind_int64(insert, 1, static_cast<int64_t>(++version));
      sqlite3_bind_text(insert, 2, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
      sqlite3_bind_text(insert, 3, json.data(), static_cast<int>(json.size()), SQLITE_STATIC);
      sqlite3_bind_blob(insert, 4, payload.data(), static_cast<int>(payload.size()), SQLITE_STATIC);
      check(sqlite3_step(insert));
      sqlite3_reset(insert);
    }
    run(("UPDATE store SET head = " + std::to_string(version)).c_str());
    run("COMMIT");
  }
  const int code = print_rate(count, begin);
  sqlite3_finalize(insert);
  sqlite3_close(handle);
  return code;
}

}  // namespace
}  // namespace davit::bench

int main(int argc, char** argv) {
  using namespace davit::bench;
  return run({{"store", {3, &store}},
              {"sequence", {3, &sequence}},
              {"counter", {3, &counter}},
              {"sqlite", {3, &sqlite}}},
             argc, argv);
}
