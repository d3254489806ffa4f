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

bool is_volatile() {
  return subject().options.boolean("volatile");
}

std::string store_file(const Config& config) {
  const std::string path = config.string("path");
  return path.starts_with('/') ? path : "";
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

Status status(const std::string& id, uint64_t sequence, uint64_t epoch) {
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
  return {0, 0, r.error()};
}

uint64_t put(storage::Client& client, const Record& r, uint64_t expect) {
  const auto result = commit(client, {{{r, expect}}, {}});
  if (!result.error) return result.first_version;
  ADD_FAILURE() << "commit of " << r.key.id << " failed: " << result.error->message;
  return 0;
}

Read read_all(storage::Client& client, Cursor from, const Scope& scope, uint32_t limit,
              uint64_t dead_after) {
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

void expect_refused_status(storage::Client& client, Cursor cursor) {
  auto page = client.statuses({{}, cursor}, [](const davit_status&) { return true; });
  ASSERT_FALSE(page.ok()) << "cursor " << cursor.version << " of statuses was accepted";
  EXPECT_EQ(page.error().code, Code::out_of_range) << why(page);
}

Operation given_up_before() {
  const Operation operation;
  operation.cancel();
  return operation;
}

}  // namespace davit::conformance
