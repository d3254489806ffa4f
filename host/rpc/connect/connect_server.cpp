#include "connect_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <algorithm>
#include <boost/asio/post.hpp>

#include "../method_headers.hpp"
#include "answer.hpp"
#include "core.hpp"
#include "http1_session.hpp"
#include "http2_session.hpp"
#include "services/log.hpp"
#include "tls.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace asio = boost::asio;

namespace {

constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// The first byte of a TLS handshake.
constexpr char tls_handshake = 0x16;

// HTTP/1.1 has no ping, so the kernel checks whether those callers are there.
void keep_alive(int fd, const ServerSettings& s) {
  const auto seconds = [](std::chrono::milliseconds ms) {
    return static_cast<int>(std::max<int64_t>(1, ms.count() / 1'000));
  };
  const int on = 1, idle = seconds(s.keepalive_interval), between = seconds(s.keepalive_timeout),
            count = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

constexpr const char* not_tls_words =
    "it speaks TLS, which this listener does not (its url has to begin with http://)";

// What to log about a caller with which TLS failed.
std::string strange_words(const std::string& why) {
  const bool plain = why.find("http request") != std::string::npos ||
                     why.find("wrong version number") != std::string::npos;
  return plain ? "it does not speak TLS (its url has to begin with https://)" : why;
}

// Connect uses HTTP's own status for a method that is not served, for unary calls and for streams.
HttpAnswer nothing_served(Terms terms, const End& end) {
  if (terms.wire == Wire::grpc || terms.wire == Wire::grpc_web) return refusal(terms, end);
  terms.wire = Wire::connect_unary;
  HttpAnswer out = refusal(terms, end);
  out.status = 404;
  return out;
}

}  // namespace

std::unique_ptr<RpcServer> make_connect_server(const Core& core, ServerSettings settings,
                                               const MethodRegistry& methods) {
  return std::make_unique<ConnectServer>(core, std::move(settings), methods);
}

ConnectServer::ConnectServer(const Core& core, ServerSettings settings,
                             const MethodRegistry& methods)
    : log_(core.log),
      methods_(methods),
      acceptor_(core, std::move(settings), methods),
      settings_(acceptor_.settings()),
      requests_(core, settings_.name, static_cast<size_t>(settings_.requests_bytes_max)),
      serving_{{log_, acceptor_.admission().going_down()}, requests_, settings_.gzip} {}

ConnectServer::~ConnectServer() {
  stop(std::chrono::steady_clock::now());
}

Result<> ConnectServer::take_certificate() {
  const auto pem = acceptor_.certificate().take();
  if (!pem) return {};  // the certificate taken before still holds
  auto made = server_tls(*pem);
  if (!made.ok()) return made.error();
  const std::lock_guard lock(tls_mutex_);
  tls_ = std::move(*made);
  return {};
}

std::shared_ptr<asio::ssl::context> ConnectServer::tls() {
  const std::lock_guard lock(tls_mutex_);
  return tls_;
}

Result<> ConnectServer::check() {
  if (auto r = acceptor_.check(); !r.ok()) return r;
  auto r = settings_.tls() ? take_certificate() : Result<>();
  if (r.ok()) r = json_.make(methods_);
  return r.ok() ? r : r.error().in(acceptor_.name());
}

Result<> ConnectServer::listen() {
  if (auto r = check(); !r.ok()) return r;
  if (auto r = acceptor_.bind(); !r.ok()) return r;
  // A Unix socket has few callers.
  const unsigned threads = settings_.on_unix_socket() ? 1 : std::max(1u, settings_.threads);
  for (unsigned i = 0; i < threads; ++i) loops_.push_back(std::make_shared<Loop>());
  for (const auto& loop : loops_) loop->start();
  return acceptor_.start([this](AcceptedConnection v) { entered(std::move(v)); },
                         [this] { make_room(); });
}

// Closes idle connections of unknown callers to make room. A caller that is refused now gets in
// when it tries again.
void ConnectServer::make_room() {
  constexpr std::chrono::milliseconds between{100};
  const auto now = std::chrono::steady_clock::now();
  if (now - made_room_ < between) return;
  made_room_ = now;
  on_each_loop([](Loop& loop) {
    const auto all = loop.connections;
    for (const auto& c : all) {
      if (c->is_idle_stranger(std::chrono::steady_clock::now()))
        c->close("there is no room for who does not call");
    }
  });
}

// Hands the connection to the loop with the fewest connections.
void ConnectServer::entered(AcceptedConnection incoming) {
  const auto& loop = *std::min_element(
      loops_.begin(), loops_.end(),
      [](const auto& a, const auto& b) { return a->load.load() < b->load.load(); });
  ++loop->load;
  {
    const std::lock_guard lock(mutex_);
    ++connections_;
  }
  asio::post(loop->io(), [this, loop, incoming = std::move(incoming)]() mutable {
    serve(loop, std::move(incoming));
  });
}

void ConnectServer::left(Loop& loop, const std::string& address) {
  --loop.load;
  acceptor_.connection_limits().leave(address);
  const std::lock_guard lock(mutex_);
  --connections_;
  none_.notify_all();
}

void ConnectServer::serve(const std::shared_ptr<Loop>& loop, AcceptedConnection incoming) {
  const bool local = settings_.on_unix_socket();
  const asio::generic::stream_protocol protocol(local ? AF_UNIX : AF_INET, local ? 0 : IPPROTO_TCP);
  Socket socket(loop->io());
  boost::system::error_code bad;
  if (!loop->closing) socket.assign(protocol, incoming.fd.get(), bad);
  if (bad || loop->closing) return left(*loop, incoming.address);
  const int fd = incoming.fd.release();
  if (!local) keep_alive(fd, settings_);
  auto caller = std::make_shared<Caller>(Caller{loop,
                                                {},
                                                std::move(incoming.connection),
                                                std::move(incoming.peer),
                                                std::move(incoming.address),
                                                std::move(incoming.user)});
  const Connection::Patience patience{settings_.request_timeout, settings_.keepalive_interval,
                                      settings_.keepalive_timeout, settings_.idle_timeout,
                                      settings_.request_timeout};
  const auto context = tls();
  const auto connection = std::make_shared<Connection>(
      context ? tls_link(std::move(socket), context, "") : plain_link(std::move(socket)), patience,
      [this, caller](std::string_view begin, bool&) { return session(caller, begin); },
      [this, caller](const std::string& why, bool strange) { closed(*caller, why, strange); });
  caller->on = connection;
  if (caller->user && !caller->user->role().empty()) connection->know();
  loop->connections.insert(connection);
  connection->start();
}

void ConnectServer::closed(const Caller& caller, const std::string& why, bool strange) {
  if (strange) acceptor_.admission().log_bad_connection(strange_words(why), caller.peer);
  caller.loop->connections.erase(caller.on.lock());
  left(*caller.loop, caller.address);
}

std::unique_ptr<HttpSession> ConnectServer::session(const CallerPtr& caller,
                                                    std::string_view begin) {
  // The caller is still answered in HTTP: its TLS library has an error message for that.
  if (!settings_.tls() && !begin.empty() && begin.front() == tls_handshake)
    acceptor_.admission().log_bad_connection(not_tls_words, caller->peer);
  const size_t n = std::min(begin.size(), http2_preface.size());
  const bool may_be_http2 = begin.substr(0, n) == http2_preface.substr(0, n);
  if (begin.empty() || (may_be_http2 && n < http2_preface.size())) return nullptr;
  const auto wake = [on = caller->on] {
    if (const auto connection = on.lock()) connection->wake();
  };
  const auto requested = [this, caller](const std::shared_ptr<HttpStream>& stream) {
    this->requested(stream, *caller);
  };
  Http2Session::Limits limits;
  limits.streams_max = static_cast<uint32_t>(settings_.streams_max);
  limits.head_bytes_max = static_cast<uint32_t>(settings_.header_bytes_max);
  if (may_be_http2) return std::make_unique<Http2Session>(limits, requested, wake);
  return std::make_unique<Http1Session>(limits.head_bytes_max, requested, wake);
}

Result<IdentityPtr> ConnectServer::identify(const Caller& caller, const RequestHead& head) {
  if (caller.user) return caller.user;
  std::optional<std::string_view> found;
  for (const auto& [key, value] : head.headers) {
    if (key != "authorization") continue;
    found = found ? std::string_view() : value;  // two credentials are ambiguous: invalid
  }
  return acceptor_.admission().authenticate(found ? &*found : nullptr);
}

void ConnectServer::requested(const std::shared_ptr<HttpStream>& stream, const Caller& caller) {
  const RequestHead head = request_head(*stream);
  std::string_view path = head.path;
  path = path.substr(0, path.find('?'));
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const Method* method = acceptor_.admission().find(path);
  auto terms = read_terms(head, method);
  if (const auto* refused = std::get_if<HttpAnswer>(&terms)) return send_answer(*stream, *refused);
  const OpenCalls::Place place =
      serving_.open.enter(caller.connection, acceptor_.admission().calls_max());
  if (place.first_over) {
    asio::post(caller.loop->io(), [on = caller.on] {
      if (const auto connection = on.lock()) connection->close("too many calls");
    });
  }
  answer_or_serve({stream,
                   caller.loop,
                   caller.on,
                   std::get<Terms>(std::move(terms)),
                   nullptr,
                   {},
                   place.connection},
                  caller, head, method, path);
}

void ConnectServer::answer_or_serve(ServedRequest request, const Caller& caller,
                                    const RequestHead& head, const Method* method,
                                    std::string_view path) {
  const auto refuse = [&](const End& end) {
    send_answer(*request.stream, method == nullptr && end.code == Code::unimplemented
                                     ? nothing_served(request.terms, end)
                                     : refusal(request.terms, end));
    if (request.place != nullptr) serving_.open.leave(request.place);
  };
  Admission& admission = acceptor_.admission();
  const bool open = Admission::is_open(method);
  if (serving_.open.draining() && !Admission::answers_to_the_end(method))
    return refuse(serving_.going_down);
  const bool legal = std::all_of(head.headers.begin(), head.headers.end(), is_legal_header);
  auto entry =
      admission.enter(method, {path, caller.peer, request.place != nullptr, legal,
                               open ? Result<IdentityPtr>(IdentityPtr()) : identify(caller, head)});
  if (!entry.ok()) return refuse(End::of(entry.error()));
  if (const auto connection = caller.on.lock(); connection && !open) connection->know();
  if (!open) request.whose = Admission::whose(*entry->who, caller.address);
  if (request.terms.form == Form::json) request.json = &json_.of(method);
  ServedCall::Admitted call{*method, std::move(entry->who), std::move(entry->account), caller.peer,
                            headers_for_the_method(metadata_from_wire(head.headers))};
  if (const auto timeout = request.terms.timeout)
    call.deadline_ns = (std::chrono::steady_clock::now().time_since_epoch() + *timeout).count();
  (new ConnectServedCall(serving_, std::move(call), std::move(request)))->begin();
}

void ConnectServer::on_each_loop(void (*work)(Loop&)) {
  for (const auto& loop : loops_) asio::post(loop->io(), [loop, work] { work(*loop); });
}

void ConnectServer::look_after() {
  acceptor_.connection_limits().look_after();
  requests_.look_after();
  serving_.open.end_late(
      std::chrono::steady_clock::now() - settings_.request_timeout,
      {Code::deadline_exceeded,
       "no request came within " + std::to_string(settings_.request_timeout.count()) + " ms"});
  serving_.open.end_revoked(Admission::revoked());
  on_each_loop([](Loop& loop) {
    const auto all = loop.connections;
    for (const auto& c : all) c->tick(std::chrono::steady_clock::now());
  });
}

void ConnectServer::read_files() {
  acceptor_.admission().refresh();
  if (!settings_.tls()) return;
  acceptor_.certificate().look();
  if (auto r = take_certificate(); !r.ok())
    log_.warn("rpc", "certificate", {{"server", settings_.name}, {"what", r.error().message}});
  const auto go = [](Loop& loop) {
    const auto all = loop.connections;
    for (const auto& c : all) c->is_leaving() ? c->close("") : c->go_away();
  };
  // Closes the connections that are still there a second later.
  if (std::exchange(authority_withdrawn_, false)) on_each_loop(go);
  if (!acceptor_.certificate().has_withdrawn()) return;
  authority_withdrawn_ = true;
  serving_.open.end_all(ServerCertificate::withdrawn());
  on_each_loop(go);
}

void ConnectServer::drain() {
  acceptor_.drain();
  serving_.open.drain();
  serving_.open.ask_streams_to_end();
}

bool ConnectServer::wait_until_no_connection(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return none_.wait_until(lock, deadline, [this] { return connections_ == 0; });
}

void ConnectServer::stop(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(stopped_, true)) return;
  if (loops_.empty()) return acceptor_.stop();
  drain();
  serving_.open.wait_until_none(deadline);
  serving_.open.end_all(serving_.going_down);
  acceptor_.stop();
  on_each_loop([](Loop& loop) {
    loop.closing = true;
    const auto all = loop.connections;
    for (const auto& c : all) c->go_away();
  });
  constexpr std::chrono::milliseconds for_the_last_bytes{500};
  wait_until_no_connection(std::chrono::steady_clock::now() + for_the_last_bytes);
  on_each_loop([](Loop& loop) {
    const auto all = loop.connections;
    for (const auto& c : all) c->close(shutting_down().message);
  });
  // Connections first: each may still begin a call. Then calls: each posts to its loop until it is
  // destroyed.
  const auto grace = std::chrono::steady_clock::now() + last_grace;
  wait_until_no_connection(grace);
  if (serving_.open.wait_until_none(grace)) {
    for (const auto& loop : loops_) loop->stop();
    return;
  }
  log_.error("rpc", "calls did not end",
             {{"server", settings_.name}, {"calls", std::to_string(serving_.open.size())}});
  for (const auto& loop : loops_) loop->leave();
}

}  // namespace davit::host
