// The parts of the plugin "every", one for each group of roles. Each method tells its log what it
// was given, with every field, so that a test can compare it with what was sent. Its answers are
// the values of values.hpp.
#pragma once

#include <davit/actuator.hpp>
#include <davit/cluster.hpp>
#include <davit/gate.hpp>
#include <davit/kind_needs.hpp>
#include <davit/records_role.hpp>
#include <davit/rights.hpp>
#include <davit/rpc.hpp>
#include <davit/secrets.hpp>
#include <davit/sink.hpp>
#include <davit/storage.hpp>
#include <davit/storage_copy.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_intents.hpp>
#include <davit/storage_move.hpp>
#include <davit/storage_schema.hpp>

#include "values.hpp"

namespace davit::test {

// What every part has: a log, and the slot that is to throw (the setting `throws_in`).
class Part {
 public:
  explicit Part(const Host& host) : host_(host) {}

 protected:
  // The beginning of every method.
  void at(const std::string& slot, const std::string& given = {}) const {
    host_.info(slot + (given.empty() ? "" : " ") + given);
    if (slot == throws_in_) throw std::runtime_error("ouch in " + slot);
  }
  // Calls a visitor. It must neither throw nor be called after it has asked to stop.
  template <class F>
  bool visit(F&& f) const {
    try {
      host_.info("visit");
      return f();
    } catch (...) {
      host_.error("an exception crossed the ABI");
      throw;
    }
  }
  Host host_;
  std::string throws_in_;
};

class EveryStorage : public Part {
 public:
  using Part::Part;

  Result<storage::Limits> limits() {
    at("davit_storage.limits");
    return values::limits;
  }
  static std::string told_of(const Op& op) {
    std::string told;
    const OnCancel gives_up(op, [&told] { told = " told"; });
    return told;
  }
  Result<Head> head(const Op& op) {
    at("davit_storage.head", (op.cancelled() ? "cancelled " : "wanted ") +
                                 std::to_string(op.deadline_ns()) + " " + std::string(op.trace()) +
                                 told_of(op));
    return values::head;
  }
  Result<Page> read(const Op&, const ReadRequest& q, const storage::VisitRecord& see) {
    at("davit_storage.read", values::words(q));
    (void)(visit([&] { return see(values::record()); }) &&
           visit([&] { return see(values::record()); }));
    return Page{true, 55, values::head};
  }
  Result<Head> get(const Op&, const GetRequest& q, const storage::VisitRecord& see) {
    at("davit_storage.get", values::words(q));
    (void)(visit([&] { return see(values::record()); }) &&
           visit([&] { return see(values::record()); }));
    return values::head;
  }
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>& groups) {
    at("davit_storage.commit", values::words(groups));
    return std::vector<GroupResult>(groups.size(), values::result());
  }
  Result<> report(const Op&, const std::vector<Status>& statuses) {
    at("davit_storage.report", values::words(statuses.at(0)));
    return {};
  }
  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus& see) {
    at("davit_storage.statuses", values::words(q));
    (void)(visit([&] { return see(values::status()); }) &&
           visit([&] { return see(values::status()); }));
    return StatusPage{true, {66, 67}, values::head};
  }
  Result<> progress(const Op&, const Progress& p) {
    at("davit_storage.progress", values::words(p));
    return {};
  }
  Result<bool> agents(const Op&, const AgentRead& q, const storage::VisitProgress& see) {
    at("davit_storage.agents", values::words(q));
    (void)(visit([&] { return see(values::progress()); }) &&
           visit([&] { return see(values::progress()); }));
    return true;
  }
  Result<> maintain(const Op&, const storage::Maintain& m) {
    at("davit_storage.maintain", values::words(m));
    return {};
  }
  davit_storage_watch* watch(storage::Hint hint) {
    at("davit_storage.watch");
    hint(DAVIT_HINT_STATUSES);
    return hints_.watch(std::move(hint));
  }
  void unwatch(davit_storage_watch* handle) {
    at("davit_storage.unwatch");
    hints_.unwatch(handle);
    hints_.tell(DAVIT_HINT_RECORDS);  // nobody hears it
  }
  Result<> history(const Op&, const storage::VisitCursor& see) {
    at("davit_storage.history");
    (void)(visit([&] { return see({1, 2}); }) && visit([&] { return see({3, 4}); }));
    return {};
  }

  Result<storage::Copied> backup(const Op&, const std::string& path,
                                 const storage::CopyProgress& tell) {
    at("davit_storage_copy.backup", path);
    (void)(visit([&] { return tell(1, 2); }) && visit([&] { return tell(2, 2); }));
    return values::copied;
  }
  Result<storage::Copied> verify(const Op&, const std::string& path,
                                 const storage::CopyProgress& tell) {
    at("davit_storage_copy.verify", path);
    (void)(visit([&] { return tell(1, 2); }) && visit([&] { return tell(2, 2); }));
    return values::copied;
  }
  Result<storage::Restored> restore(const Op&, const std::string& path) {
    at("davit_storage_copy.restore", path);
    return storage::Restored{values::copied, "/aside"};
  }
  Result<> observe(const Op&, bool alone) {
    at("davit_storage_move.observe", values::words(alone));
    return {};
  }
  Result<std::string> begin(const Op&, storage::LoadBegin how) {
    at("davit_storage_move.begin", values::words(how.look, how.anew));
    return std::string("a note");
  }
  Result<> load(const Op&, const storage::Load& what) {
    at("davit_storage_move.load", values::words(what.records, what.statuses, what.note));
    return {};
  }
  Result<> finish(const Op&, const storage::LoadEnd& end) {
    at("davit_storage_move.finish", values::words(end.history, end.status_head));
    return {};
  }
  Result<std::vector<std::string>> migrate(const Op&, bool dry_run) {
    at("davit_storage_schema.migrate", values::words(dry_run));
    return std::vector<std::string>{"one", "two"};
  }
  bool leads() const {
    at("davit_storage_election.leads");
    return true;
  }
  Result<> open_intents(const Op&, uint64_t after, uint32_t limit,
                        const storage::VisitIntent& see) {
    at("davit_storage_intents.open", values::words(after, limit));
    (void)(visit([&] { return see(values::intent()); }) &&
           visit([&] { return see(values::intent()); }));
    return {};
  }
  Result<> settle_intent(const Op&, const storage::IntentOutcome& outcome) {
    at("davit_storage_intents.settle", values::words(outcome));
    return {};
  }

 private:
  storage::Hints hints_;
};

class EverySecrets : public Part {
 public:
  using Part::Part;

  void resolve(const Op&, const std::vector<secrets::Item>& items, const secrets::Done& done) {
    at("davit_secrets.resolve", values::words(items));
    secrets::Results results;
    results.reserve(2);
    results.emplace_back(secrets::Value{Secret("plaintext"), "7", 271});
    results.emplace_back(Error{Code::not_found, "is not there", "ref"});
    done(std::move(results));
  }
};

class EveryActuator : public Part {
 public:
  using Part::Part;

  void reconcile(const Op&, const actuator::Call& call, const actuator::Done& done) {
    at("davit_actuator.reconcile", values::words(call));
    call.event({true, "Reason", "said"});
    done(values::built());
  }
  void remove(const Op&, const actuator::Call& call, const actuator::Done& done) {
    at("davit_actuator.remove", values::words(call));
    actuator::Outcome failed;
    failed.error = Error{Code::aborted, "no", "there", std::chrono::milliseconds(53)};
    done(failed);
  }
};

class EveryRecords : public Part {
 public:
  using Part::Part;

  void apply(const Op& op, const records::Apply& request, const records::ApplyDone& done) {
    at("davit_records.apply", values::words(request) + (op.cancelled() ? " cancelled" : ""));
    done({values::applied(), {{"k", "r", "j"}, {}, {}, Error{Code::aborted, "no", "expect"}}});
  }
  void get(const Op&, const Query& query, const records::Done& done) {
    at("davit_records.get", values::words(query));
    done(Error{Code::unavailable, "not now", "there", std::chrono::milliseconds(9)});
  }
  void list(const Op&, const records::Read& read, const records::Done& done) {
    at("davit_records.list", values::words(read));
    done(values::found());
  }
  Result<records::WatchHandle*> watch(const records::Read& read, uint32_t credit,
                                      records::Watcher watcher) {
    at("davit_records.watch", values::words(read) + " " + std::to_string(credit));
    watcher_ = std::move(watcher);
    return &watch_;
  }
  void credit(records::WatchHandle* w, uint32_t more) {
    at("davit_records.credit", std::to_string(more) + (w == &watch_ ? "" : " of a stranger"));
    watcher_.event({DAVIT_RECORDS_EVENT_RECORD, values::record(), {281, 282}});
    watcher_.event({DAVIT_RECORDS_EVENT_SYNCED, std::nullopt, {283, 284}});
  }
  void cancel(records::WatchHandle* w) {
    at("davit_records.cancel", w == &watch_ ? "" : "of a stranger");
    watcher_.ended(Error{Code::out_of_range, "too old", "after"});
  }

 private:
  records::WatchHandle watch_;
  records::Watcher watcher_;
};

class EveryKind : public Part {
 public:
  explicit EveryKind(const Host& host) : Part(host), described_(values::description()) {}

  const kind::Described& described() const {
    if (throws_in_ == "davit_kind.describe") at("davit_kind.describe");
    return described_;
  }
  Result<Named> identify(std::string_view apply) const {
    at("davit_kind.identify", std::string(apply));
    return values::named();
  }
  Result<> validate(std::string_view apply) const {
    at("davit_kind.validate", std::string(apply));
    return Error{Code::invalid_argument, "is wrong", "a.b", std::chrono::milliseconds(9)};
  }
  kind::Class classify(std::string_view state, std::string_view apply) const {
    at("davit_kind.classify", std::string(state) + " " + std::string(apply));
    return kind::Class::apply;
  }
  Result<std::string> reconcile(std::string_view input) const {
    at("davit_kind.reconcile", std::string(input));
    return std::string("{\"apply\": []}");
  }
  Result<Named> attribute(std::string_view object) const {
    at("davit_kind.attribute", std::string(object));
    return values::named();
  }
  Result<std::string> delete_message(const Named& n) const {
    at("davit_kind.delete_message", values::words(n));
    return std::string("{\"delete\": {}}");
  }
  Result<std::string> to_report(const Named& n, const Status& s) const {
    at("davit_kind.to_report", values::words(n) + " " + values::words(s));
    return std::string("{\"report\": {}}");
  }
  Result<std::pair<Named, Status>> from_report(std::string_view report) const {
    at("davit_kind.from_report", std::string(report));
    return std::pair(values::named(), values::status());
  }
  Result<std::string> apply_message(std::string_view apply) const {
    at("davit_kind.apply_message", std::string(apply));
    return std::string("{\"less\": 1}");
  }
  std::vector<kind::Need> needs() const {
    at("davit_kind_needs.needs");
    return {values::need(), values::need()};
  }

 private:
  kind::Described described_;
};

class EveryCluster : public Part {
 public:
  using Part::Part;
  using Done = std::function<void(cluster::Response)>;

  // With the verb "late" it throws after it has answered, and answers once more.
  void request(const Op&, const cluster::Request& q, const Done& done) {
    if (q.verb == "late") {
      done(values::response());
      done(values::response());
      throw std::runtime_error("too late");
    }
    at("davit_cluster.request", values::words(q));
    done(values::response());
  }
  cluster::WatchHandle* watch(const cluster::WatchRequest& q, uint32_t credit,
                              cluster::Watcher watcher) {
    at("davit_cluster.watch", values::words(q) + " " + std::to_string(credit));
    watcher_ = std::move(watcher);
    return &watch_;
  }
  void credit(cluster::WatchHandle* w, uint32_t more) {
    at("davit_cluster.credit", std::to_string(more) + (w == &watch_ ? "" : " of a stranger"));
    watcher_.event(DAVIT_WATCH_ADDED, "{\"object\": 1}");
  }
  void cancel(cluster::WatchHandle* w) {
    at("davit_cluster.cancel", w == &watch_ ? "" : "of a stranger");
    watcher_.ended();
  }
  void discover(const Op&, const std::string& group, const std::string& version,
                const std::string& kind, const Done& done) {
    at("davit_cluster.discover", group + " " + version + " " + kind);
    done(values::response());
  }
  void identity(const Op&, const Done& done) {
    at("davit_cluster.identity");
    done(values::response());
  }

 private:
  cluster::WatchHandle watch_;
  cluster::Watcher watcher_;
};

class EverySink : public Part {
 public:
  using Part::Part;

  Result<sink::Stream*> open(const std::string& kind, const std::string& region,
                             sink::Source source) {
    at("davit_change_sink.open", kind + " " + region);
    source_ = std::move(source);
    return &stream_;
  }
  void begin(sink::Stream* s, const sink::Begin& b) {
    at("davit_change_sink.begin", values::words(b) + own(s));
  }
  bool offer(sink::Stream* s, const sink::Change& c) {
    at("davit_change_sink.offer", values::words(c) + own(s));
    source_.wake();
    source_.settled(c.version, sink::Outcome::parked);
    return false;
  }
  void bookmark(sink::Stream* s, const sink::Bookmark& b) {
    at("davit_change_sink.bookmark", values::words(b) + own(s));
  }
  void close(sink::Stream* s) {
    at("davit_change_sink.close", own(s));
    source_.closed();
  }

  void offer(const Status& s) { at("davit_status_sink.offer", values::words(s)); }
  void advance(const std::string& region, const KindProgress& p) {
    at("davit_status_sink.advance", region + " " + values::words(p));
  }
  void issue(const std::string& region, const Issue& i) {
    at("davit_status_sink.issue", region + " " + values::words(i));
  }

 private:
  std::string own(const sink::Stream* s) const { return s == &stream_ ? "" : " of a stranger"; }
  sink::Stream stream_;
  sink::Source source_;
};

}  // namespace davit::test
