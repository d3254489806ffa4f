// What the storage suites share: a store to talk to, and short ways to write and read. The rules S1
// to S12 stand in abi/storage.h; a test carries the number of the rule that it proves.
#pragma once

#include "davit/storage.hpp"
#include "suite.hpp"

namespace davit::conformance {

// A fresh instance, up, and a client of it.
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
// Files of the subject in `directory`, or empty: its setting `path`, when that is a file.
std::string store_file(const Config& config);

Record record(const std::string& id, const std::string& payload = "payload");
Record dead(Record r, const std::string& state = "archived");
Status status(const std::string& id, uint64_t sequence, uint64_t epoch = 1);

GroupResult commit(storage::Client& client, const Group& group);
// One record in a group of its own; its version. A failure fails the test and gives 0.
uint64_t put(storage::Client& client, const Record& r, uint64_t expect = DAVIT_EXPECT_ANY);

struct Read {
  std::vector<Record> records;
  std::vector<Page> pages;
  Cursor end;  // cursor after the last page
};
// Pages from the cursor to the head. A failure fails the test.
Read read_all(storage::Client& client, Cursor from = {}, const Scope& scope = {},
              uint32_t limit = 100, uint64_t dead_after = 0);
std::vector<std::string> ids(const std::vector<Record>& records);
std::optional<Record> get(storage::Client& client, const std::string& id);
std::vector<Status> read_statuses(storage::Client& client, uint64_t after = 0,
                                  const Scope& scope = {}, uint32_t limit = 100);

// How long a torture test takes: DAVIT_TORTURE_SECONDS, or a few seconds.
std::chrono::milliseconds torture_time();

// The op of a caller who has gone.
class GoneCaller {
 public:
  GoneCaller();
  Op op() const { return Op(&abi_); }

 private:
  davit_op abi_{};
};

}  // namespace davit::conformance
