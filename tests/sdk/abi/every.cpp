// A plugin that plays every role and uses every service of its host. growth_test and
// exceptions_test load it.
#include <davit/rpc.hpp>

#include "every.hpp"

namespace davit::test {
namespace {

// Both ends of a call: tells the log what comes, and answers the served one.
class Every;
class Handler : public rpc::Handler {
 public:
  Handler(const Every& owner, const char* end) : owner_(owner), end_(end) {}
  rpc::Call call;
  void on_message(Buffer m) override;
  void on_end_of_messages() override;
  void on_writable() override;
  void on_cancel() override;
  void on_done(const rpc::End& end) override;
  void on_headers(const Pairs& headers) override;

 private:
  const Every& owner_;
  const std::string end_;  // "served" or "started"
};

class Every : public EveryStorage,
              public EveryKind,
              public EveryCluster,
              public EverySink,
              public EverySecrets,
              public EveryActuator,
              public EveryRecords {
 public:
  using roles = Roles<storage::Role, storage::CopyRole, storage::MoveRole, storage::SchemaRole,
                      storage::ElectionRole, storage::IntentsRole, kind::Role, kind::NeedsRole,
                      cluster::Role, sink::ChangeRole, sink::StatusRole, gate::Role, RightsRole,
                      secrets::Role, actuator::Role, records::Role>;
  using EveryCluster::cancel, EveryRecords::cancel;
  using EveryKind::reconcile, EveryActuator::reconcile;
  using EveryStorage::begin, EverySink::begin;
  using EveryStorage::get, EveryRecords::get, EveryCluster::credit, EveryRecords::credit;
  using EveryStorage::watch, EveryCluster::watch, EveryRecords::watch, EverySink::offer;

  explicit Every(const Host& host)
      : EveryStorage(host),
        EveryKind(host),
        EveryCluster(host),
        EverySink(host),
        EverySecrets(host),
        EveryActuator(host),
        EveryRecords(host),
        host_(host) {
    const Settings settings(host);
    const std::string slot = settings.string("throws_in", "");
    EveryStorage::throws_in_ = EveryKind::throws_in_ = slot;
    EveryCluster::throws_in_ = EverySink::throws_in_ = EverySecrets::throws_in_ = slot;
    EveryRecords::throws_in_ = EveryActuator::throws_in_ = slot;
    throws_in = slot;
    const auto& config = *host.service<davit_config>(DAVIT_CONFIG);
    const auto* number = config.get(config.root(host.abi()), str("number"));
    const auto* ratio = config.get(config.root(host.abi()), str("ratio"));
    at("settings " +
       values::words(settings.integer("number", 1), settings.boolean("yes", false),
                     settings.strings("texts"), settings.table("inner").entries()) +
       (number == nullptr ? "" : " " + text(config.where(number))) +
       (ratio == nullptr || config.real(ratio) != 0.5 ? "" : " half"));
    at("davit_plugin.create");
  }
  ~Every() noexcept(false) { at("davit_plugin.destroy"); }

  Result<> wire() {
    at("davit_plugin.wire");
    const rpc::Server server(host_);
    rpc::Method m{"s/M", "Q", "A", bytes("set"), "agent", true, true, 121};
    auto r = server.serve(m, [this, server](rpc::Call call) {
      at("davit_rpc_method.on_call");
      const rpc::Identity who = call.identity();
      at("call of " + values::words(who.name, who.role, who.regions, call.metadata("key"),
                                    call.peer(), call.deadline_ns(), server.knows_region("r")));
      auto handler = std::make_unique<Handler>(*this, "served");
      handler->call = call;
      server.accept(call, host_.strand(), std::move(handler));
      call.read();
    });
    if (!r.ok()) return r;
    auto channel = rpc::Channel::find(host_, "server");
    if (!channel.ok()) return channel.error();
    channel_ = *channel;
    auto client = storage::Client::find(host_, "every");
    if (!client.ok()) return client.error();
    client_ = *client;
    at("neighbours " + std::to_string(each(host_, DAVIT_STORAGE).size()));
    return {};
  }
  Result<> check(const Op& op) {
    at("davit_plugin.check", op.cancelled() ? "cancelled" : "wanted");
    return Error{Code::unavailable, "not now", "somewhere", std::chrono::milliseconds(7)};
  }
  Result<> start(const Op&) {
    at("davit_plugin.start");
    use_services();
    use_channel();
    use_queue();
    return {};
  }
  Result<> stop(const Op&) {
    at("davit_plugin.stop");
    return {};
  }

  void wait(const gate::Opened& opened) {
    at("davit_gate.wait");
    opened(131);
  }
  std::string rights() const {
    at("davit_rights.document");
    return "kind: ClusterRole\n";
  }

  void at(const std::string& slot, const std::string& given = {}) const {
    host_.info(slot + (given.empty() ? "" : " ") + given);
    if (slot == throws_in) throw std::runtime_error("ouch in " + slot);
  }
  std::string throws_in;

 private:
  void use_services() {
    host_.health(DAVIT_HEALTH_DEGRADED, "so so");
    host_.shutdown("over", std::chrono::nanoseconds(141));
    host_.counter("c", "counts", {{"l", "v"}}).add(2);
    host_.gauge("g", "is").set(3);
    host_.histogram("h", "took").observe(std::chrono::seconds(1));
    at("clock " + std::to_string(host_.unix_ms() > 0) + std::to_string(host_.now().count() >= 0) +
       std::to_string(host_.random() != host_.random()));
    const Strand strand = host_.strand(), same = strand;
    strand.post([this] { at("a task"); });
    host_.blocking("", [this] { at("a blocking task"); });
    timer_.emplace(same);
    timer_->after(std::chrono::hours(1), [this] { at("never"); });
    timer_->after(std::chrono::seconds(1), [this] { at("a timer's task"); });
    auto schema = host_.schema(bytes("set"), {"T.a"});
    at("codec " + values::words(*schema->to_json("T", "message"), *schema->from_json("T", "json"),
                                schema->equal("T", "a", "a")));
    at("credential " + std::string(host_.credential("/secret")->view()));
    at("state " + *host_.state_directory(true));
  }
  void use_channel() {
    at("channel " + values::words(channel_.region(), channel_.platform(), channel_.agent(),
                                  channel_.protocol()));
    auto handler = std::make_unique<Handler>(*this, "started");
    Handler& h = *handler;
    h.call = channel_.start("s/M", host_.strand(), std::move(handler), {{"a", "b"}}, 151,
                            DAVIT_RPC_CLIENT_STREAMS);
    h.call.read();
    h.call.write(std::vector<Buffer>{Buffer::of("one "), Buffer::of("two")});
    h.call.half_close();
    h.call.cancel();
  }
  void use_queue() {
    client_.commit(values::group(),
                   [this](const GroupResult& r) { at("committed", values::words(r)); });
    client_.report({values::status()},
                   [this](const Result<>& r) { at(r.ok() ? "reported" : r.error().message); });
  }

  Host host_;
  rpc::Channel channel_;
  storage::Client client_;
  std::optional<Timer> timer_;
};

void Handler::on_message(Buffer m) {
  owner_.at("davit_rpc_handler.on_message", end_ + " " + std::string(m.view()));
}
void Handler::on_end_of_messages() {
  owner_.at("no more messages", end_);
  if (end_ == "started") return;
  call.headers({{"head", "er"}});
  call.write("answer");
  call.finish({Code::aborted, "said", {{"t", "v"}}, {{"D", "detail"}}});
}
void Handler::on_writable() {
  owner_.at("davit_rpc_handler.on_writable", end_);
}
void Handler::on_cancel() {
  owner_.at("davit_rpc_handler.on_cancel", end_);
}
void Handler::on_done(const rpc::End& end) {
  owner_.at("davit_rpc_handler.on_done", end_ + " " + values::words(end));
}
void Handler::on_headers(const Pairs& headers) {
  owner_.at("davit_rpc_handler.on_headers", end_ + " " + values::words(headers));
}

}  // namespace
}  // namespace davit::test

DAVIT_PLUGIN(davit::test::Every, "every", "1.2.3", "plays every role")
