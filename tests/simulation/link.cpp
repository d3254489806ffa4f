#include "link.hpp"

#include <deque>

#include "later.hpp"
#include "objects.hpp"

// One end of a call.
struct davit_rpc_call {
  davit::simulation::Link::Rpc* rpc = nullptr;
  davit_strand* strand = nullptr;
  const davit_rpc_handler* handler = nullptr;
  void* self = nullptr;
  int reads = 0;                                   // granted and not used
  std::deque<std::optional<davit::Buffer>> inbox;  // nothing: the peer will send no more
  bool writing = false, cancelled = false, ending = false, done = false;
};

struct davit_rpc_channel {
  std::string role, token, region;
  bool cut = false;   // for itself
  bool gone = false;  // whoever has it has crashed
  bool crawls = false;
  int first = 0;  // calls of a new process: its snapshots, which shall not all go through at once
};

namespace davit::simulation {

namespace {

constexpr size_t inbox_max = 4;  // messages that a reader may leave lying before the writer waits

// By name: the agents' names, and the operators'.
std::map<std::string, davit_rpc_channel> channels;

bool is_operators(const davit_rpc_channel* channel) {
  return channel->role == "operator";
}

}  // namespace

struct Link::Rpc : std::enable_shared_from_this<Link::Rpc> {
  davit_rpc_call client, server;
  const davit_rpc_channel* channel = nullptr;
  std::string path;
  std::map<std::string, std::string> headers;
  bool arrived = false, finished = false, cut = false, lost = false;
  bool server_gone = false;  // it says no more; what it has said is on its way
  bool slow = false;  // every message of it, and it breaks off: so do snapshots, after seconds
  std::optional<rpc::End> end;  // for the client, behind its inbox
  std::chrono::nanoseconds last_due[2]{};
  davit_str region_view{};
  davit_identity identity{};

  davit_rpc_call& other(const davit_rpc_call& e) { return &e == &client ? server : client; }
  bool over() const { return client.done && (server.done || !arrived); }

  void post(davit_rpc_call& e, std::function<void()> task) {
    const auto* exec = Link::current_->host_.service<davit_exec>(DAVIT_EXEC);
    exec->post(
        e.strand, &Strand::run_once,
        new std::function<void()>([held = shared_from_this(), task = std::move(task)] { task(); }));
  }
  // What was asked for and has come; then the end.
  void deliver(davit_rpc_call& e) {
    while (e.handler != nullptr && e.reads > 0 && !e.inbox.empty()) {
      --e.reads;
      post(e, [&e, message = std::move(e.inbox.front())] {
        if (!e.done) e.handler->on_message(e.self, message ? message->get() : nullptr);
      });
      e.inbox.pop_front();
      written(other(e));
    }
    if (&e == &client && end && e.inbox.empty()) end_client();
  }
  // The peer has room again.
  void written(davit_rpc_call& writer) {
    if (!writer.writing || other(writer).inbox.size() > inbox_max) return;
    writer.writing = false;
    if (writer.cancelled || (&writer == &server && finished)) return;
    post(writer, [&writer] {
      if (!writer.done && !writer.cancelled) writer.handler->on_writable(writer.self);
    });
  }
  void end_client() {
    if (std::exchange(client.ending, true)) return;
    post(client, [this] { done(client, *end); });
  }
  void done(davit_rpc_call& e, const rpc::End& how) {
    if (std::exchange(e.done, true)) return;
    const auto trailers = to_abi(how.trailers);
    const davit_rpc_end abi = {sizeof abi,
                               static_cast<int32_t>(how.code),
                               str(how.message),
                               trailers.data(),
                               trailers.size(),
                               nullptr,
                               0};
    e.handler->on_done(e.self, &abi);
    Link::current_->host_.service<davit_exec>(DAVIT_EXEC)->strand_release(e.strand);
  }
};

Link* Link::current_ = nullptr;

struct Slots {
  static Link& link() { return *Link::current_; }

  static int32_t serve(const davit_host*, const davit_rpc_method* m, davit_error*) {
    link().methods_[text(m->path)] = *m;
    return DAVIT_OK;
  }
  static void hold(davit_rpc_call& e, davit_strand* strand, const davit_rpc_handler* handler,
                   void* self) {
    link().host_.service<davit_exec>(DAVIT_EXEC)->strand_retain(strand);
    e.strand = strand;
    e.handler = handler;
    e.self = self;
  }
  static void accept(davit_rpc_call* c, davit_strand* strand, const davit_rpc_handler* handler,
                     void* self) {
    hold(*c, strand, handler, self);
    if (c->rpc->lost) cancel_server(*c);
    c->rpc->deliver(*c);
  }
  static void cancel_server(davit_rpc_call& c) {
    if (c.handler == nullptr || c.rpc->finished || std::exchange(c.cancelled, true)) return;
    c.rpc->post(c, [&c] {
      if (!c.done && !c.rpc->finished) c.handler->on_cancel(c.self);
    });
  }
  static davit_str metadata(const davit_rpc_call* c, davit_str key) {
    const auto it = c->rpc->headers.find(text(key));
    return it == c->rpc->headers.end() ? str("") : str(it->second);
  }
  static void finish(davit_rpc_call* c, const davit_rpc_end* end) {
    const auto rpc = c->rpc->shared_from_this();
    if (std::exchange(rpc->finished, true)) return;
    rpc::End how{static_cast<Code>(end->code), text(end->message),
                 from_abi(end->trailers, end->trailers_count)};
    if (!rpc->lost && !rpc->server_gone) {
      link().send(rpc, false, [rpc, how] {
        rpc->end = how;
        rpc->deliver(rpc->client);
      });
    }
    rpc->post(*c, [rpc, c, how] { rpc->done(*c, how); });
  }

  static int32_t channel(const davit_host*, davit_str name, davit_rpc_channel** out, davit_error*) {
    *out = &channels.at(text(name));
    return DAVIT_OK;
  }
  static davit_rpc_call* start(davit_rpc_channel* channel, const davit_rpc_start* s,
                               davit_strand* strand, const davit_rpc_handler* handler, void* self) {
    Link& l = link();
    auto rpc = std::make_shared<Link::Rpc>();
    rpc->client.rpc = rpc->server.rpc = rpc.get();
    rpc->channel = channel;
    rpc->path = text(s->path);
    if (!is_operators(channel)) rpc->slow = link().fate_.strikes(channel->first-- > 0 ? 0.5 : 0.1);
    rpc->headers["x-krane-region"] = channel->region;
    for (const auto& [k, v] : from_abi(s->metadata, s->metadata_count)) rpc->headers[k] = v;
    rpc->region_view = str(channel->region);
    rpc->identity = {sizeof rpc->identity, 1, str(channel->token), str(channel->role),
                     &rpc->region_view};
    hold(rpc->client, strand, handler, self);
    l.forget_ended();
    l.calls_.push_back(rpc);
    if (s->deadline_ns != INT64_MAX) {
      const auto left = std::chrono::nanoseconds(s->deadline_ns) - l.host_.now();
      later(l.strand_, std::max(left, std::chrono::nanoseconds(0)), [rpc] {
        if (!rpc->client.done) link().lose(*rpc, "the deadline has passed");
      });
    }
    l.send(rpc, true, [rpc] { link().arrive(rpc); });
    return &rpc->client;
  }
  static void half_close(davit_rpc_call* c) {
    const auto rpc = c->rpc->shared_from_this();
    link().send(rpc, true, [rpc] {
      rpc->server.inbox.emplace_back(std::nullopt);
      rpc->deliver(rpc->server);
    });
  }
  static void cancel(davit_rpc_call* c) {
    const auto rpc = c->rpc->shared_from_this();
    if (rpc->client.ending || std::exchange(rpc->lost, true)) return;
    rpc->client.inbox.clear();
    rpc->end = rpc::End{Code::cancelled, "cancelled"};
    rpc->deliver(rpc->client);
    cancel_server(rpc->server);
  }

  static void read(davit_rpc_call* c) {
    ++c->reads;
    c->rpc->deliver(*c);
  }
  static void write(davit_rpc_call* c, davit_buf* const* parts, size_t count) {
    const auto rpc = c->rpc->shared_from_this();
    std::string message;
    for (size_t i = 0; i < count; ++i) message += Buffer(parts[i]).view();
    c->writing = true;
    davit_rpc_call& to = rpc->other(*c);
    if (rpc->server_gone && &to == &rpc->client) return;
    link().send(rpc, &to == &rpc->server, [rpc, c, &to, m = Buffer::of(std::move(message))] {
      to.inbox.emplace_back(m);
      rpc->deliver(to);
      rpc->written(*c);
    });
  }
};

Link::Link(Host host, Fate& fate, std::string protocol)
    : host_(host), fate_(fate), strand_(host.strand()), protocol_(std::move(protocol)) {
  current_ = this;
  channels = {{"operator", {"operator", "root", region}},
              {"a", {"agent", "a", region}},
              {"b", {"agent", "b", region}},
              {"c", {"agent", "c", other_region}}};
}

Link::~Link() {
  server_gone();
  current_ = nullptr;
}

const davit_rpc* Link::table() const {
  static const davit_rpc t = {
      sizeof(davit_rpc),
      0,
      &Slots::serve,
      &Slots::accept,
      [](const davit_rpc_call* c) -> const davit_identity* { return &c->rpc->identity; },
      &Slots::metadata,
      [](const davit_rpc_call*) { return str("simulation"); },
      [](const davit_host*, davit_str name) -> int32_t {
        return view(name) == region || view(name) == other_region ? 1 : 0;
      },
      &Slots::finish,
      &Slots::channel,
      [](const davit_rpc_channel* c) { return str(c->region); },
      [](const davit_rpc_channel*) { return str(""); },
      [](const davit_rpc_channel* c) { return str(c->token); },
      [](const davit_rpc_channel*) { return str(current_->protocol_); },
      &Slots::start,
      &Slots::half_close,
      &Slots::cancel,
      &Slots::read,
      &Slots::write,
      [](davit_rpc_call*, const davit_pair*, size_t) {},  // nobody here reads heads of answers
      [](const davit_rpc_call*) -> int64_t { return INT64_MAX; }};
  return &t;
}

// In order, each after a delay of its own. Nothing comes after what was lost.
void Link::send(const std::shared_ptr<Rpc>& rpc, bool to_server, std::function<void()> deliver) {
  const bool operators_call = is_operators(rpc->channel);
  if (rpc->channel->gone) return strand_.post([rpc] { current_->lose(*rpc, "the agent is gone"); });
  if (rpc->cut) return;
  if (!operators_call && (cut_ || rpc->channel->cut || fate_.strikes(rpc->slow ? 0.2 : 0.01))) {
    rpc->cut = true;
    return later(strand_, fate_.delay(), [rpc] { current_->lose(*rpc, "the connection was cut"); });
  }
  auto& last = rpc->last_due[to_server ? 1 : 0];
  const std::chrono::nanoseconds takes = rpc->channel->crawls
                                             ? std::chrono::milliseconds(5'000 + fate_.below(9'500))
                                             : fate_.delay(rpc->slow);
  last = std::max(last, host_.now() + takes);
  later(strand_, last - host_.now(), [rpc, to_server, deliver = std::move(deliver)] {
    if (!rpc->lost && !(to_server && rpc->server_gone)) deliver();
  });
}

void Link::arrive(const std::shared_ptr<Rpc>& rpc) {
  const auto method = methods_.find(rpc->path);
  if (method == methods_.end()) return lose(*rpc, "connection refused");
  rpc->arrived = true;
  method->second.on_call(method->second.self, &rpc->server);
}

void Link::lose(Rpc& rpc, const char* why) {
  if (std::exchange(rpc.lost, true)) return;
  rpc.client.inbox.clear();
  if (!rpc.client.ending) rpc.end = rpc::End{Code::unavailable, why};
  rpc.deliver(rpc.client);
  if (rpc.arrived) Slots::cancel_server(rpc.server);
}

void Link::lose_all(const char* why, const std::function<bool(const Rpc&)>& which) {
  const auto calls = calls_;
  for (const auto& rpc : calls) {
    if (which(*rpc)) lose(*rpc, why);
  }
}

void Link::server_gone() {
  lose_all("the server is gone",
           [](const Rpc& rpc) { return is_operators(rpc.channel) || !rpc.arrived; });
  const auto calls = calls_;
  for (const auto& rpc : calls) {
    if (!rpc->finished && !rpc->lost) leave(rpc);
  }
  for (const auto& [path, method] : methods_) {
    if (method.release != nullptr) method.release(method.self);
  }
  methods_.clear();
}

// What the server has said is on its way, and the end of the connection comes behind it.
void Link::leave(const std::shared_ptr<Rpc>& rpc) {
  rpc->server_gone = true;
  send(rpc, false, [rpc] {
    rpc->end = rpc::End{Code::unavailable, "the server is gone", {}};
    rpc->deliver(rpc->client);
  });
  Slots::cancel_server(rpc->server);
}

void Link::agent_gone(const std::string& agent) {
  davit_rpc_channel& channel = channels.at(agent);
  channel.gone = true;
  lose_all("the agent is gone", [&](const Rpc& rpc) { return rpc.channel == &channel; });
}

void Link::agent_back(const std::string& agent) {
  channels.at(agent).gone = false;
  expect_snapshots();
}

void Link::expect_snapshots() {
  for (auto& [name, channel] : channels) channel.first = 6;
}

void Link::set_cut(bool cut) {
  cut_ = cut;
  if (cut)
    lose_all("the connection was cut", [](const Rpc& rpc) { return !is_operators(rpc.channel); });
}

void Link::set_cut(const std::string& agent, bool cut) {
  davit_rpc_channel& channel = channels.at(agent);
  channel.cut = cut;
  if (cut)
    lose_all("the connection was cut", [&](const Rpc& rpc) { return rpc.channel == &channel; });
}

void Link::set_crawling(const std::string& agent, bool crawls) {
  channels.at(agent).crawls = crawls;
}

void Link::forget_ended() {
  std::erase_if(calls_, [](const auto& rpc) { return rpc->over(); });
}

void Link::ask(const std::string& path, std::string request,
               std::function<void(Result<std::string>)> done) {
  auto channel = rpc::Channel::find(host_, "operator");
  strand_.post([channel = *channel, path, request = std::move(request), strand = strand_,
                done = std::move(done)]() mutable {
    channel.unary(path, std::move(request), strand, std::move(done));
  });
}

}  // namespace davit::simulation
