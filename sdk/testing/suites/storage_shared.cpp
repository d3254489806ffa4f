#include "storage.hpp"

namespace davit::conformance {

void Store::connect() {
  if (!fresh_->up().ok()) {
    ADD_FAILURE() << "the instance does not start: " << why(fresh_->up());
    std::exit(1);  // no test can run
  }
  client_ = storage::Client(fresh_->host(), fresh_->instance().ref(DAVIT_STORAGE));
}

void Store::start() {
  fresh_ = std::make_unique<Fresh>(*fresh_, TestHost::Time::real);
  connect();
}

bool ends_with_the_process() {
  return is_volatile() || subject().options.string("in_memory") == "process";
}

bool is_exclusive() {
  return subject().options.boolean("exclusive");
}

namespace {

void run_command(const char* key, Store& store, const std::string& copy) {
  const std::string command =
      subject().options.with("$TMP", store.fresh().directory()).with("$COPY", copy).string(key);
  ASSERT_EQ(std::system(command.c_str()), 0) << "conformance." << key << ": " << command;
}

}  // namespace

bool Backups::can_be_made() {
  const Config& options = subject().options;
  return !options.string("backup").empty() && !options.string("restore").empty();
}

std::string Backups::make(Store& store) {
  const std::string copy = folder_.path() + "/copy-" + std::to_string(++made_);
  if (is_exclusive()) store.stop();
  run_command("backup", store, copy);
  if (is_exclusive()) store.start();
  return copy;
}

void Backups::restore(Store& store, const std::string& copy) {
  run_command("restore", store, copy);
}

uint32_t group_size(storage::Client& client, uint32_t most) {
  const auto limits = client.limits();
  EXPECT_TRUE(limits.ok()) << why(limits);
  return limits.ok() ? std::min(limits->group_records, most) : 1;
}

Record record(const std::string& id, const std::string& payload) {
  Record r;
  r.key = {"widget", "r1", id};
  r.ns = "default";
  r.name = "name-" + id;
  r.state = "running";
  r.payload = payload;
  r.json = "{\"id\": \"" + id + "\"}";
  r.author = "suite";
  return r;
}

Record dead(Record r, const std::string& state) {
  r.live = false;
  r.state = state;
  return r;
}

Status status(const std::string& id, uint64_t sequence, Epoch epoch) {
  Status s;
  s.key = {"widget", "r1", id};
  s.observed_version = 1;
  s.health = "progressing";
  s.desired = 3;
  s.message = "sequence " + std::to_string(sequence);
  s.epoch = epoch;
  s.sequence = sequence;
  s.reported_at_unix_ms = 1'700'000'000'000;
  return s;
}

GroupResult commit(storage::Client& client, const Group& group) {
  auto r = client.commit_now({group});
  if (r.ok()) return r->front();
  ADD_FAILURE() << "commit failed as a whole: " << why(r);
  return {0, 0, 0, r.error()};
}

Version put(storage::Client& client, const Record& r, Version expect) {
  const auto result = commit(client, {{{r, expect}}, {}});
  if (!result.error) return result.first_version;
  ADD_FAILURE() << "commit of " << r.key.id << " failed: " << result.error->message;
  return 0;
}

Read read_all(storage::Client& client, Cursor from, const Scope& scope, uint32_t limit,
              Version dead_after) {
  Read out;
  Cursor at = from;
  while (true) {
    auto page = client.read({scope, at, dead_after, limit, UINT64_MAX}, [&](const davit_record& r) {
      out.records.push_back(from_abi(r));
      return true;
    });
    if (!page.ok()) {
      ADD_FAILURE() << "read after " << at.version << " failed: " << why(page);
      return out;
    }
    out.pages.push_back(*page);
    at = {page->head.head.incarnation, page->next_version};
    out.end = at;
    if (!page->more) return out;
  }
}

std::vector<std::string> ids(const std::vector<Record>& records) {
  std::vector<std::string> out;
  for (const auto& r : records) out.push_back(r.key.id);
  return out;
}

std::optional<Record> get(storage::Client& client, const std::string& id) {
  std::optional<Record> out;
  auto r = client.get({{"widget", "r1", id}, {}, {}}, [&](const davit_record& found) {
    EXPECT_FALSE(out) << "an id was found twice";
    out = from_abi(found);
    return true;
  });
  EXPECT_TRUE(r.ok()) << why(r);
  return out;
}

std::vector<Status> read_statuses(storage::Client& client, Cursor after, const Scope& scope,
                                  uint32_t limit) {
  std::vector<Status> out;
  while (true) {
    auto page = client.statuses({scope, after, limit}, [&](const davit_status& s) {
      out.push_back(from_abi(s));
      return true;
    });
    if (!page.ok()) {
      ADD_FAILURE() << why(page);
      return out;
    }
    after = page->next;
    if (!page->more) return out;
  }
}

History history(storage::Client& client) {
  auto r = client.history();
  EXPECT_TRUE(r.ok()) << why(r);
  return r.ok() ? *r : History{};
}

Result<Page> read_after(storage::Client& client, Cursor cursor, Version dead_after,
                        uint32_t limit) {
  return client.read({{}, cursor, dead_after, limit, UINT64_MAX},
                     [](const davit_record&) { return true; });
}

Result<StatusPage> read_statuses_after(storage::Client& client, Cursor cursor) {
  return client.statuses({{}, cursor}, [](const davit_status&) { return true; });
}

Cursor status_head(storage::Client& client) {
  const auto head = client.head();
  EXPECT_TRUE(head.ok()) << why(head);
  return head.ok() ? Cursor{head->head.incarnation, head->status_head} : Cursor{};
}

void expect_refused(storage::Client& client, Cursor cursor, Version dead_after) {
  auto page = read_after(client, cursor, dead_after);
  ASSERT_FALSE(page.ok()) << "cursor " << cursor.version << " was accepted";
  EXPECT_EQ(page.error().code, Code::out_of_range) << why(page);
}

void expect_refused_status(storage::Client& client, Cursor cursor) {
  auto page = read_statuses_after(client, cursor);
  ASSERT_FALSE(page.ok()) << "cursor " << cursor.version << " of statuses was accepted";
  EXPECT_EQ(page.error().code, Code::out_of_range) << why(page);
}

Operation given_up_before() {
  const Operation operation;
  operation.cancel();
  return operation;
}

}  // namespace davit::conformance
