// No exception crosses the ABI. The plugin "every" throws in the slot that its setting names; the
// test is the other side, and throws in its visitors and callbacks.
#include <gtest/gtest.h>

#include <davit/gate.hpp>
#include <davit/rights.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_intents.hpp>
#include <davit/storage_move.hpp>
#include <davit/testing/module.hpp>

#include "services.hpp"

namespace davit::test {
namespace {

using testing::TestHost;
using values::words;

// A started instance of the plugin, which throws in `slot`.
class Every {
 public:
  explicit Every(const std::string& slot = {})
      : host_("every", {{"throws_in", slot}, {"number", 1}, {"ratio", 0.5}},
              TestHost::Time::manual),
        instance_(plugin(), host_) {
    host_.add_service(DAVIT_CODEC, codec());
    host_.add_service(DAVIT_RPC, rpc.table());
    host_.set_credential("/secret", "key");
    up = instance_.up();
  }
  ~Every() {
    if (up.ok()) run();
    const davit_rpc_end end{sizeof end, 0, {}, nullptr, 0, nullptr, 0};
    if (rpc.started.handler != nullptr) rpc.started.handler->on_done(rpc.started.self, &end);
    if (rpc.method.release != nullptr) rpc.method.release(rpc.method.self);
  }
  Every(const Every&) = delete;
  Every& operator=(const Every&) = delete;
  // Runs what the plugin began in start.
  void run() {
    host_.run();
    host_.advance(std::chrono::seconds(2));
  }
  void destroy() { instance_.destroy(); }
  storage::Client store() { return {host_.host(), instance_.ref(DAVIT_STORAGE)}; }
  storage::Moves moves() { return storage::Moves(instance_.ref(DAVIT_STORAGE_MOVE)); }
  storage::Copies copies() { return storage::Copies(instance_.ref(DAVIT_STORAGE_COPY)); }
  storage::Schemas schemas() { return storage::Schemas(instance_.ref(DAVIT_STORAGE_SCHEMA)); }
  storage::Intents intents() { return storage::Intents(instance_.ref(DAVIT_STORAGE_INTENTS)); }
  storage::Election election() { return storage::Election(instance_.ref(DAVIT_STORAGE_ELECTION)); }
  kind::Client kind() { return kind::Client(instance_.ref(DAVIT_KIND)); }
  cluster::Client cluster() { return cluster::Client(instance_.ref(DAVIT_CLUSTER)); }
  Result<cluster::Watch> watch(cluster::Watcher w = {[](int32_t, std::string_view) {}, [] {}}) {
    return cluster().watch({}, 1, std::move(w));
  }
  records::Client records() { return records::Client(instance_.ref(DAVIT_RECORDS), "me"); }
  Result<records::Watch> watch_records(records::Watcher w = {[](const auto&) {},
                                                             [](const auto&) {}}) {
    return records().watch({}, 1, std::move(w));
  }
  actuator::Client actuator() { return actuator::Client(instance_.ref(DAVIT_ACTUATOR)); }
  secrets::Client secrets() { return secrets::Client(instance_.ref(DAVIT_SECRETS)); }
  Result<sink::ChangeStream> open(sink::Source source) {
    return sink::ChangeClient(instance_.ref(DAVIT_CHANGE_SINK)).open("k", "r", std::move(source));
  }
  sink::ChangeStream stream(sink::Source source = {[] {}, [](Version, sink::Outcome) {}, [] {}}) {
    return *open(std::move(source));
  }
  // A call of a stream that is closed after it.
  Result<> streamed(const std::function<Result<>(const sink::ChangeStream&)>& call) {
    const auto opened = stream();
    auto r = call(opened);
    opened.close();
    return r;
  }
  sink::StatusClient statuses() { return sink::StatusClient(instance_.ref(DAVIT_STATUS_SINK)); }
  kind::Needs needs() { return kind::all_needs(host_); }
  // Waits at the plugin's gate.
  void wait(gate::Opened opened = [](Epoch) {}) {
    (*gate::Client::find(host_, "every"))->wait(std::move(opened));
  }
  Result<> rights() {
    StringSink text;
    const auto* table = instance_.role<davit_rights>(DAVIT_RIGHTS);
    return checked([&](davit_error* e) { return table->document(instance_.get(), text.get(), e); },
                   text);
  }
  // A call arrives, and its handler gets everything.
  void call() {
    rpc.method.on_call(rpc.method.self, &rpc.served);
    const davit_rpc_handler& h = *rpc.served.handler;
    const davit_rpc_end end{sizeof end, 0, {}, nullptr, 0, nullptr, 0};
    h.on_headers(rpc.served.self, nullptr, 0);
    h.on_message(rpc.served.self, nullptr);
    h.on_message(rpc.served.self, Buffer::of("m").get());
    h.on_writable(rpc.served.self);
    h.on_cancel(rpc.served.self);
    h.on_done(rpc.served.self, &end);
  }
  size_t visits() const {
    size_t out = 0;
    for (const auto& line : host_.log()) out += line.message == "visit";
    return out;
  }
  bool was_crossed() const { return host_.logged("an exception crossed the ABI"); }

  Rpc rpc;
  Result<> up;

 private:
  static const davit_plugin* plugin() {
    static const auto loaded = testing::Loaded::open(EVERY_SO);
    return loaded.ok() ? loaded->plugin() : nullptr;
  }
  TestHost host_;
  testing::Instance instance_;
};

struct Slot {
  std::string name;
  std::function<Result<>(Every&)> call;
};
template <class T>
Result<> plain(const Result<T>& r) {
  return r.ok() ? Result<>() : Result<>(r.error());
}
const auto sees_all = [](const auto&) { return true; };

TEST(Exceptions, OfASlotThatReturnsAnErrorAreTheErrorInternal) {
  const std::vector<Slot> slots = {
      {"davit_plugin.create", [](Every& e) { return e.up; }},
      {"davit_plugin.wire", [](Every& e) { return e.up; }},
      {"davit_plugin.start", [](Every& e) { return e.up; }},
      {"davit_storage.head", [](Every& e) { return plain(e.store().head()); }},
      {"davit_storage.read", [](Every& e) { return plain(e.store().read({}, sees_all)); }},
      {"davit_storage.get", [](Every& e) { return plain(e.store().get(Query(), sees_all)); }},
      {"davit_storage.commit", [](Every& e) { return plain(e.store().commit_now({{}})); }},
      {"davit_storage.report", [](Every& e) { return e.store().report_now({values::status()}); }},
      {"davit_storage.statuses", [](Every& e) { return plain(e.store().statuses({}, sees_all)); }},
      {"davit_storage.progress", [](Every& e) { return e.store().progress({}); }},
      {"davit_storage.agents", [](Every& e) { return plain(e.store().agent_page({}, sees_all)); }},
      {"davit_storage.maintain", [](Every& e) { return e.store().maintain({}); }},
      {"davit_storage.limits", [](Every& e) { return plain(e.store().limits()); }},
      {"davit_storage.watch",
       [](Every& e) { return plain(e.store().watch([](void*, uint32_t) {}, nullptr)); }},
      {"davit_change_sink.begin",
       [](Every& e) { return e.streamed([](const auto& s) { return s.begin({}); }); }},
      {"davit_change_sink.bookmark",
       [](Every& e) { return e.streamed([](const auto& s) { return s.bookmark({}); }); }},
      {"davit_status_sink.offer", [](Every& e) { return e.statuses().offer({}); }},
      {"davit_cluster.watch", [](Every& e) { return plain(e.watch()); }},
      {"davit_records.watch", [](Every& e) { return plain(e.watch_records()); }},
      {"davit_storage.history", [](Every& e) { return plain(e.store().history()); }},
      {"davit_storage_copy.backup", [](Every& e) { return plain(e.copies().backup("", {})); }},
      {"davit_storage_copy.verify", [](Every& e) { return plain(e.copies().verify("", {})); }},
      {"davit_storage_copy.restore", [](Every& e) { return plain(e.copies().restore("")); }},
      {"davit_storage_move.observe", [](Every& e) { return e.moves().observe(false); }},
      {"davit_storage_move.begin", [](Every& e) { return plain(e.moves().begin()); }},
      {"davit_storage_move.load", [](Every& e) { return e.moves().load({}); }},
      {"davit_storage_move.finish", [](Every& e) { return e.moves().finish({}); }},
      {"davit_storage_schema.migrate",
       [](Every& e) { return plain(e.schemas().migrate(Op(), true)); }},
      {"davit_storage_intents.open", [](Every& e) { return plain(e.intents().open(Op(), 0, 1)); }},
      {"davit_storage_intents.settle", [](Every& e) { return e.intents().settle(Op(), {}); }},
      {"davit_kind.identify", [](Every& e) { return plain(e.kind().identify("")); }},
      {"davit_kind.validate", [](Every& e) { return e.kind().validate(""); }},
      {"davit_kind.classify", [](Every& e) { return plain(e.kind().classify("on", "")); }},
      {"davit_kind.reconcile", [](Every& e) { return plain(e.kind().reconcile("")); }},
      {"davit_kind.attribute", [](Every& e) { return plain(e.kind().attribute("")); }},
      {"davit_kind.delete_message", [](Every& e) { return plain(e.kind().delete_message({})); }},
      {"davit_kind.to_report", [](Every& e) { return plain(e.kind().to_report({}, {})); }},
      {"davit_kind.from_report", [](Every& e) { return plain(e.kind().from_report("")); }},
      {"davit_kind.apply_message", [](Every& e) { return plain(e.kind().apply_message("")); }},
      {"davit_rights.document", [](Every& e) { return e.rights(); }},
      {"davit_change_sink.open", [](Every& e) { return plain(e.open({})); }},
  };
  for (const Slot& slot : slots) {
    SCOPED_TRACE(slot.name);
    Every every(slot.name);
    const Result<> r = slot.call(every);
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.error().code, Code::internal);
    EXPECT_EQ(r.error().message, "exception: ouch in " + slot.name);
  }
}

TEST(Exceptions, OfASlotThatReturnsNoErrorEndTheProcessAndNameFileAndSlot) {
  struct Row {
    std::string slot;
    std::function<void(Every&)> call;
    std::string named;  // empty: as the slot
  };
  const auto no_hint = [](void*, uint32_t) {};
  const auto ignores = [](const auto&) {};
  const std::vector<Row> rows = {
      {"davit_storage.unwatch", [=](Every& e) { e.store().watch(no_hint, nullptr)->end(); }, ""},
      {"davit_storage_election.leads", [](Every& e) { e.election().leads(); }, ""},
      {"davit_secrets.resolve",
       [](Every& e) {
         e.secrets().resolve(
             {}, [](auto) {}, Op());
       },
       ""},
      {"davit_actuator.reconcile", [=](Every& e) { e.actuator().reconcile({}, ignores, Op()); },
       ""},
      {"davit_actuator.remove", [=](Every& e) { e.actuator().remove({}, ignores, Op()); }, ""},
      {"davit_records.apply", [=](Every& e) { e.records().apply({}, ignores, Op()); }, ""},
      {"davit_records.get", [=](Every& e) { e.records().get({}, ignores, Op()); }, ""},
      {"davit_records.list", [=](Every& e) { e.records().list({}, ignores, Op()); }, ""},
      {"davit_records.credit", [](Every& e) { e.watch_records()->credit(1); }, ""},
      {"davit_records.cancel", [](Every& e) { e.watch_records()->cancel(); }, ""},
      {"davit_kind.describe", [](Every& e) { e.kind(); }, ""},
      {"davit_kind_needs.needs", [](Every& e) { e.needs(); }, ""},
      {"davit_change_sink.offer", [](Every& e) { e.stream().offer({}); }, ""},
      {"davit_change_sink.close", [](Every& e) { e.stream().close(); }, ""},
      {"davit_status_sink.advance", [](Every& e) { e.statuses().advance("r", {}); }, ""},
      {"davit_status_sink.issue", [](Every& e) { e.statuses().issue("r", {}); }, ""},
      {"davit_cluster.credit", [](Every& e) { e.watch()->credit(1); }, ""},
      {"davit_cluster.cancel", [](Every& e) { e.watch()->cancel(); }, ""},
      {"davit_gate.wait", [](Every& e) { e.wait(); }, ""},
      {"davit_plugin.destroy", [](Every& e) { e.destroy(); }, ""},
      {"davit_rpc_method.on_call", [](Every& e) { e.call(); }, ""},
      {"davit_rpc_handler.on_headers", [](Every& e) { e.call(); }, ""},
      {"davit_rpc_handler.on_message", [](Every& e) { e.call(); }, ""},
      {"davit_rpc_handler.on_writable", [](Every& e) { e.call(); }, ""},
      {"davit_rpc_handler.on_cancel", [](Every& e) { e.call(); }, ""},
      {"davit_rpc_handler.on_done", [](Every& e) { e.call(); }, ""},
      {"a task", [](Every& e) { e.run(); }, ""},
      {"a timer's task", [](Every& e) { e.run(); }, ""},
      {"committed", [](Every& e) { e.run(); }, "the answer to davit_commit.commit"},
      {"reported", [](Every& e) { e.run(); }, "the answer to davit_commit.report"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.slot);
    EXPECT_DEATH(
        {
          Every every(row.slot);
          row.call(every);
        },
        "every\\.so: exception in " + (row.named.empty() ? row.slot : row.named) + ": ouch in " +
            row.slot);
  }
}

TEST(Exceptions, OfACallbackEndTheProcessAndNameItsFile) {
  const auto ouch = [](auto...) { throw std::runtime_error("ouch"); };
  const auto wrong = [](auto...) { throw 7; };
  const std::string here = "exceptions_test: exception in ";
  EXPECT_DEATH(Every().stream({ouch, {}, {}}).offer({}), here + "davit_change_source.wake: ouch");
  EXPECT_DEATH(Every().stream({[] {}, ouch, {}}).offer({}),
               here + "davit_change_source.settled: ouch");
  EXPECT_DEATH(Every().stream({{}, {}, ouch}).close(), here + "davit_change_source.closed: ouch");
  EXPECT_DEATH(Every().watch({ouch, {}})->credit(1), here + "davit_cluster_watcher.event: ouch");
  EXPECT_DEATH(Every().watch({{}, ouch})->cancel(), here + "davit_cluster_watcher.ended: ouch");
  EXPECT_DEATH(Every().cluster().identity(ouch),
               here + "the answer to a request of davit_cluster: ouch");
  EXPECT_DEATH(Every().watch_records({ouch, {}})->credit(1),
               here + "davit_records_watcher.event: ouch");
  EXPECT_DEATH(Every().watch_records({{}, ouch})->cancel(),
               here + "davit_records_watcher.ended: ouch");
  EXPECT_DEATH(Every().records().apply({}, ouch, Op()),
               here + "the answer to davit_records.apply: ouch");
  EXPECT_DEATH(Every().records().get({}, ouch, Op()),
               here + "the answer to a read of davit_records: ouch");
  EXPECT_DEATH(Every().wait(ouch), here + "the answer to davit_gate.wait: ouch");
  EXPECT_DEATH(Every().stream({wrong, {}, {}}).offer({}),
               here + "davit_change_source.wake: an exception of an unknown type");
}

TEST(Exceptions, OfAVisitorStopTheSlotAndGoOnBehindIt) {
  const auto ouch = [](auto&&...) -> bool { throw std::runtime_error("ouch"); };
  const std::vector<Slot> slots = {
      {"read", [=](Every& e) { return plain(e.store().read({}, ouch)); }},
      {"get", [=](Every& e) { return plain(e.store().get(Query(), ouch)); }},
      {"statuses", [=](Every& e) { return plain(e.store().statuses({}, ouch)); }},
      {"agents", [=](Every& e) { return plain(e.store().agent_page({}, ouch)); }},
      {"backup", [=](Every& e) { return plain(e.copies().backup("", ouch)); }},
      {"verify", [=](Every& e) { return plain(e.copies().verify("", ouch)); }},
  };
  for (const Slot& slot : slots) {
    SCOPED_TRACE(slot.name);
    Every every;
    try {
      (void)slot.call(every);
      ADD_FAILURE() << "the exception is lost";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "ouch");
    }
    EXPECT_FALSE(every.was_crossed());
    EXPECT_EQ(every.visits(), 1u);
  }
}

TEST(Exceptions, OfAVisitorThatCannotStopItsCallerEndItsVisits) {
  int visits = 0;
  Visitor visitor([&](const davit_named& n) {
    ++visits;
    throw std::runtime_error(text(n.id));
  });
  const davit_visit_named visit = visitor;
  const Named first{"one", {}, {}}, second{"two", {}, {}};
  for (const Named& n : {first, second}) {
    const davit_named abi = to_abi(n);
    visit(&visitor, &abi);
  }
  EXPECT_EQ(visits, 1);
  EXPECT_THROW(visitor.rethrow(), std::runtime_error);
  EXPECT_NO_THROW(visitor.rethrow());
}

TEST(Exceptions, OfASinkGoOnBehindTheSlot) {
  StringSink sink;
  const auto slot = [&](davit_error*) {
    emit(sink.get(), "some");
    const davit_bytes more_than_there_can_be{reinterpret_cast<const uint8_t*>(""), SIZE_MAX};
    sink.get()->write(sink.get()->ctx, more_than_there_can_be);
    return DAVIT_OK;
  };
  EXPECT_THROW((void)checked(slot, sink), std::length_error);
}

TEST(Exceptions, OfARequestAreItsOneAnswer) {
  using Done = std::function<void(cluster::Response)>;
  struct Row {
    std::string slot;
    std::function<void(const cluster::Client&, Done)> call;
  };
  const std::vector<Row> rows = {
      {"davit_cluster.request", [](const auto& c, auto done) { c.request({}, done); }},
      {"davit_cluster.discover", [](const auto& c, auto done) { c.discover("", "", "", done); }},
      {"davit_cluster.identity", [](const auto& c, auto done) { c.identity(done); }},
  };
  for (const Row& row : rows) {
    Every every(row.slot);
    std::vector<cluster::Response> answers;
    row.call(every.cluster(), [&](const cluster::Response& r) { answers.push_back(r); });
    ASSERT_EQ(answers.size(), 1u) << row.slot;
    EXPECT_EQ(answers[0].code, Code::internal);
    EXPECT_EQ(answers[0].message, "exception in " + row.slot + ": ouch in " + row.slot);
    EXPECT_EQ(answers[0].http_status, 0);
  }
}

TEST(Exceptions, OfARequestBehindItsAnswerAreReportedAndNoSecondAnswerComes) {
  Every every;
  std::vector<cluster::Response> answers;
  cluster::Request late;
  late.verb = "late";
  ::testing::internal::CaptureStderr();
  every.cluster().request(late, [&](const cluster::Response& r) { answers.push_back(r); });
  EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                "every.so: exception in davit_cluster.request: too late"),
            std::string::npos);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(words(answers[0]), words(values::response()));
}

}  // namespace
}  // namespace davit::test
