// The built plugin, an instance of it on a given file, and records to put into it.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "davit/storage.hpp"
#include "davit/testing/module.hpp"

namespace davit::storage_sqlite {

inline const davit_plugin* plugin() {
  static const auto loaded = testing::Loaded::open(STORAGE_SQLITE_SO);
  if (!loaded.ok()) ADD_FAILURE() << loaded.error().message;
  return loaded->plugin();
}

// By SQLite's own hand.
inline void sql(const std::string& path, const char* text) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, text, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

// One life of an instance.
struct Life {
  testing::TestHost host;
  testing::Instance instance;
  Result<> up;
  storage::Client client;

  explicit Life(const std::string& path, int measure_interval_ms = 30'000)
      : host("main", {{"path", path}, {"measure_interval_ms", measure_interval_ms}}),
        instance(plugin(), host),
        up(instance.up()) {
    if (up.ok()) client = storage::Client(host, instance.ref(DAVIT_STORAGE));
  }
};

inline Group group(const std::string& id, const std::string& payload = "payload") {
  Record r;
  r.key = {"widget", "r1", id};
  r.ns = "default";
  r.name = id;
  r.state = "running";
  r.payload = payload;
  return {{{r}}, {}};
}

inline Status status(const std::string& id, const std::string& message) {
  Status s;
  s.key = {"widget", "r1", id};
  s.observed_version = 1;
  s.health = "healthy";
  s.message = message;
  s.epoch = 1, s.sequence = 1;
  return s;
}

// Empty, or what went wrong.
inline std::string commit(const storage::Client& client, const Group& g) {
  auto r = client.commit_now({g});
  if (!r.ok()) return r.error().message;
  return r->front().error ? r->front().error->message : "";
}

inline size_t count(const storage::Client& client) {
  size_t n = 0;
  ReadRequest all;
  all.limit = 1'000'000;
  auto r = client.read(all, [&](const davit_record&) { return ++n, true; });
  EXPECT_TRUE(r.ok()) << r.error().message;
  return n;
}

}  // namespace davit::storage_sqlite
