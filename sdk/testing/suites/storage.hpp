// What the storage suites share: a store under test, and short functions that write and read. The
// rules S1 to S13 are in abi/storage.h. A test's name has the number of the rule that it proves.
#pragma once

#include "davit/storage.hpp"
#include "davit/testing/temporary.hpp"
#include "suite.hpp"

namespace davit::conformance {

// A fresh instance that has been started, and its client.
class Store {
 public:
  Store() : Store(std::make_unique<Fresh>()) {}
  // A second live instance of the same store.
  static Store beside(Store& first) {
    return Store(std::make_unique<Fresh>(first.fresh(), TestHost::Time::real));
  }

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
  explicit Store(std::unique_ptr<Fresh> fresh) : fresh_(std::move(fresh)) { connect(); }
  void connect();
  std::unique_ptr<Fresh> fresh_;
  storage::Client client_;
};

// True when nothing outlives the process (`conformance.in_memory` is "instance" or "process").
bool ends_with_the_process();
// True when the store is for one instance at a time (`conformance.exclusive = true`).
bool is_exclusive();

// Copies of the store that the commands `conformance.backup` and `conformance.restore` make and
// bring back. In a command, $TMP is the directory of the store and $COPY the copy.
class Backups {
 public:
  // True when both commands are configured.
  static bool can_be_made();
  // An exclusive store is stopped and started again for it. Returns the copy.
  std::string make(Store& store);
  // The instances are what the caller has made of them: up or stopped.
  void restore(Store& store, const std::string& copy);

 private:
  testing::TemporaryDirectory folder_;
  int made_ = 0;
};

// The number of records for a group that should be large: `most`, or what the store takes.
uint32_t group_size(storage::Client& client, uint32_t most);

Record record(const std::string& id, const std::string& payload = "payload");
Record dead(Record r, const std::string& state = "archived");
// An incarnation that the store does not have.
inline Incarnation another(Incarnation of) {
  return Incarnation(of.value() + 2);
}
Status status(const std::string& id, uint64_t sequence, Epoch epoch = Epoch(1));

GroupResult commit(storage::Client& client, const Group& group);
History history(storage::Client& client);
// Commits one record in its own group and returns its version. An error fails the test and
// returns 0.
Version put(storage::Client& client, const Record& r, Version expect = any_version);

struct Read {
  std::vector<Record> records;
  std::vector<Page> pages;
  Cursor end;  // the cursor after the last page
};
// Reads pages from the cursor to the head. An error fails the test.
Read read_all(storage::Client& client, Cursor from = {}, const Scope& scope = {},
              uint32_t limit = 100, Version dead_after = {});
std::vector<std::string> ids(const std::vector<Record>& records);
std::optional<Record> get(storage::Client& client, const std::string& id);
// Reads pages from the cursor to the status head.
std::vector<Status> read_statuses(storage::Client& client, Cursor after = {},
                                  const Scope& scope = {}, uint32_t limit = 100);
// A page after the cursor, of which nobody wants the content.
Result<Page> read_after(storage::Client& client, Cursor cursor, Version dead_after = {},
                        uint32_t limit = 100);
Result<StatusPage> read_statuses_after(storage::Client& client, Cursor cursor);
// Whether a page after the cursor is refused, and with OUT_OF_RANGE.
void expect_refused(storage::Client& client, Cursor cursor, Version dead_after = {});
void expect_refused_status(storage::Client& client, Cursor cursor);
// The cursor of a reader that has every status.
Cursor status_head(storage::Client& client);

// How long a torture test runs: DAVIT_TORTURE_SECONDS, or 2.5 seconds.
std::chrono::milliseconds torture_time();

// An operation of a caller that no longer waits.
Operation given_up_before();

}  // namespace davit::conformance
