// What the storage suites share: a store under test, and short functions that write and read. The
// rules S1 to S13 are in abi/storage.h. A test's name has the number of the rule that it proves.
#pragma once

#include "davit/storage.hpp"
#include "suite.hpp"

namespace davit::conformance {

// A fresh instance that has been started, and its client.
class Store {
 public:
  Store() : fresh_(std::make_unique<Fresh>()) { connect(); }

  storage::Client* operator->() { return &client_; }
  storage::Client& operator*() { return client_; }
  Fresh& fresh() { return *fresh_; }
  uint32_t max_concurrency() const { return subject().plugin.plugin()->max_concurrency; }
  const davit_storage* vtable() { return fresh_->instance().role<davit_storage>(DAVIT_STORAGE); }
  davit_instance* self() { return fresh_->instance().get(); }

  void stop() { fresh_->stop(); }
  void start();
  void restart() {
    stop();
    start();
  }

 private:
  void connect();
  std::unique_ptr<Fresh> fresh_;
  storage::Client client_;
};

// True when nothing outlives an instance (`conformance.volatile = true`).
bool is_volatile();
// The file of the store: the setting `path`, when it is an absolute path. Otherwise empty.
std::string store_file(const Config& config);

// The number of records for a group that should be large: `most`, or what the store takes.
uint32_t group_size(storage::Client& client, uint32_t most);

Record record(const std::string& id, const std::string& payload = "payload");
Record dead(Record r, const std::string& state = "archived");
Status status(const std::string& id, uint64_t sequence, uint64_t epoch = 1);

GroupResult commit(storage::Client& client, const Group& group);
// Commits one record in its own group and returns its version. An error fails the test and
// returns 0.
uint64_t put(storage::Client& client, const Record& r, uint64_t expect = DAVIT_EXPECT_ANY);

struct Read {
  std::vector<Record> records;
  std::vector<Page> pages;
  Cursor end;  // the cursor after the last page
};
// Reads pages from the cursor to the head. An error fails the test.
Read read_all(storage::Client& client, Cursor from = {}, const Scope& scope = {},
              uint32_t limit = 100, uint64_t dead_after = 0);
std::vector<std::string> ids(const std::vector<Record>& records);
std::optional<Record> get(storage::Client& client, const std::string& id);
// Reads pages from the cursor to the status head.
std::vector<Status> read_statuses(storage::Client& client, Cursor after = {},
                                  const Scope& scope = {}, uint32_t limit = 100);
// Whether a page of statuses after the cursor is refused, and with OUT_OF_RANGE.
void expect_refused_status(storage::Client& client, Cursor cursor);

// How long a torture test runs: DAVIT_TORTURE_SECONDS, or 2.5 seconds.
std::chrono::milliseconds torture_time();

// An operation of a caller that no longer waits.
Operation given_up_before();

}  // namespace davit::conformance
