#include "connect_server.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <boost/asio/post.hpp>

#include "../bind_error.hpp"
#include "answer.hpp"
#include "assembly/extension.hpp"
#include "http1_session.hpp"
#include "http2_session.hpp"
#include "json_form.hpp"
#include "services/log.hpp"
#include "tls.hpp"

namespace davit::host {

namespace asio = boost::asio;

namespace {

constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// What gRPC allows by itself: tokens, names and traces fit in many times over.
constexpr uint32_t head_bytes_max = 8u << 10;
// An HTTP/1.1 connection that is kept for the caller's next request.
constexpr std::chrono::seconds rest{120};

std::string name_of(const asio::ip::tcp::endpoint& e) {
  const bool v4 = e.address().is_v4();
  return (v4 ? "ipv4:" : "ipv6:[") + e.address().to_string() + (v4 ? ":" : "]:") +
         std::to_string(e.port());
}

// Peers of HTTP/1.1 are asked nothing: the kernel looks whether they are there.
void keep_alive(asio::ip::tcp::socket& socket, const ServerSettings& s) {
  boost::system::error_code none;
  socket.set_option(asio::ip::tcp::no_delay(true), none);
  socket.set_option(asio::socket_base::keep_alive(true), none);
  const auto seconds = [](std::chrono::milliseconds ms) {
    return static_cast<int>(std::max<int64_t>(1, ms.count() / 1'000));
  };
  const int idle = seconds(s.keepalive_interval), between = seconds(s.keepalive_timeout), count = 1;
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
  setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

// Connect says that with HTTP's own status, for either kind of call.
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
      settings_(std::move(settings)),
      methods_(methods),
      admission_(core, settings_, methods),
      certificate_(core, settings_) {
  serving_.admission = &admission_;
  serving_.server = settings_.name;
  serving_.gzip = settings_.gzip;
  serving_.log = &log_;
}

ConnectServer::~ConnectServer() {
  stop(std::chrono::steady_clock::now());
}

Result<> ConnectServer::load_tls() {
  if (auto r = certificate_.load(); !r.ok()) return r;
  const auto pem = certificate_.take();
  if (!pem) return {};  // what was taken before still holds
  auto made = server_tls(*pem);
  if (!made.ok()) return made.error();
  tls_ = std::move(*made);
  return {};
}

Result<> ConnectServer::load_json() {
  for (const Method* m : methods_.all()) {
    auto form = JsonForm::make(*m);
    if (!form.ok()) return form.error();
    json_[m] = std::move(*form);
  }
  return {};
}

Result<> ConnectServer::check() {
  auto r = admission_.load();
  if (r.ok() && settings_.tls()) r = load_tls();
  if (r.ok()) r = load_json();
  return r.ok() ? r : r.error().in(name());
}

Result<> ConnectServer::bind() {
  const size_t colon = settings_.listen.rfind(':');
  std::string host = settings_.listen.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  boost::system::error_code bad;
  const auto found = tcp::resolver(serving_.io)
                         .resolve(host, settings_.listen.substr(colon + 1),
                                  tcp::resolver::passive | tcp::resolver::numeric_service, bad);
  unsigned short port = 0;  // one for all addresses of a name
  for (const auto& entry : found) {
    tcp::endpoint at = entry.endpoint();
    if (port != 0) at.port(port);
    tcp::acceptor a(serving_.io);
    a.open(at.protocol(), bad);
    if (!bad) a.set_option(tcp::acceptor::reuse_address(true), bad);
    if (!bad) a.bind(at, bad);
    if (!bad) a.listen(asio::socket_base::max_listen_connections, bad);
    if (bad) break;
    port = a.local_endpoint().port();
    acceptors_.push_back(std::move(a));
  }
  if (bad || acceptors_.empty()) {
    acceptors_.clear();
    return Error{Code::unavailable,
                 name() + ": cannot listen on " + settings_.listen + ": " +
                     bind_error(settings_.listen) + " (set another port in " +
                     settings_.listen_where + ")",
                 {},
                 {}};
  }
  address_ = settings_.listen.substr(0, colon + 1) + std::to_string(port);
  return {};
}

Result<> ConnectServer::listen() {
  if (auto r = check(); !r.ok()) return r;
  if (auto r = bind(); !r.ok()) return r;
  for (auto& a : acceptors_) accept(a);
  work_.emplace(serving_.io.get_executor());
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "connect");
    serving_.io.run();
  });
  log_.info("rpc", "listening", {{"server", settings_.name}, {"address", address_}});
  return {};
}

void ConnectServer::accept(tcp::acceptor& a) {
  a.async_accept([this, &a](boost::system::error_code e, tcp::socket socket) {
    if (e == asio::error::operation_aborted || !a.is_open()) return;
    if (!e) came(std::move(socket));
    accept(a);
  });
}

void ConnectServer::came(tcp::socket socket) {
  boost::system::error_code gone;
  const auto from = socket.remote_endpoint(gone);
  if (gone || draining_) return;
  keep_alive(socket, settings_);
  const std::string peer = name_of(from);
  const Connection::Patience patience{settings_.request_timeout, settings_.keepalive_interval,
                                      settings_.keepalive_timeout, rest};
  auto weak = std::make_shared<std::weak_ptr<Connection>>();
  auto connection = std::make_shared<Connection>(
      tls_ ? tls_link(std::move(socket), tls_, "") : plain_link(std::move(socket)), patience,
      [this, weak, peer](std::string_view begin, bool& refused) {
        return session(*weak, peer, begin, refused);
      },
      [this, weak](const std::string&) {
        connections_.erase(weak->lock());
        const std::lock_guard lock(mutex_);
        --connections_count_;
        closed_.notify_all();
      });
  *weak = connection;
  connections_.insert(connection);
  {
    const std::lock_guard lock(mutex_);
    ++connections_count_;
  }
  connection->start();
}

std::unique_ptr<HttpSession> ConnectServer::session(const std::weak_ptr<Connection>& weak,
                                                    const std::string& peer, std::string_view begin,
                                                    bool&) {
  const size_t n = std::min(begin.size(), http2_preface.size());
  const bool may_be_http2 = begin.substr(0, n) == http2_preface.substr(0, n);
  if (begin.empty() || (may_be_http2 && n < http2_preface.size())) return nullptr;
  const auto wake = [weak] {
    if (const auto connection = weak.lock()) connection->wake();
  };
  const auto requested = [this, weak, peer](const std::shared_ptr<HttpStream>& stream) {
    this->requested(stream, weak, peer);
  };
  if (!may_be_http2) return std::make_unique<Http1Session>(head_bytes_max, requested, wake);
  Http2Session::Limits limits;
  limits.streams_max = static_cast<uint32_t>(settings_.streams_max);
  limits.head_bytes_max = head_bytes_max;
  return std::make_unique<Http2Session>(limits, requested, wake);
}

Result<IdentityPtr> ConnectServer::identify(const RequestHead& head) {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : head.headers) {
    if (key != "authorization") continue;
    found = found ? std::string_view() : value;  // two credentials: which one is meant?
  }
  return admission_.authenticate(found ? &*found : nullptr);
}

void ConnectServer::requested(const std::shared_ptr<HttpStream>& stream,
                              const std::weak_ptr<Connection>& weak, const std::string& peer) {
  const RequestHead head = request_head(*stream);
  std::string_view path = head.path;
  path = path.substr(0, path.find('?'));
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const Method* method = admission_.find(path);
  auto terms = read_terms(head, method);
  if (const auto* refused = std::get_if<HttpAnswer>(&terms)) return send_answer(*stream, *refused);
  const OpenCalls::Place place = serving_.open.enter(peer, admission_.calls_max());
  if (place.first_over) {
    asio::post(serving_.io, [weak] {
      if (const auto connection = weak.lock()) connection->close("too many calls");
    });
  }
  ConnectServedCall::Came call{stream, std::get<Terms>(terms), nullptr, {}, peer, place.connection};
  answer_or_serve(std::move(call), head, method, path);
}

void ConnectServer::answer_or_serve(ConnectServedCall::Came call, const RequestHead& head,
                                    const Method* method, std::string_view path) {
  const auto refuse = [&](const End& end) {
    send_answer(*call.stream, method == nullptr && end.code == Code::unimplemented
                                  ? nothing_served(call.terms, end)
                                  : refusal(call.terms, end));
    if (call.connection != nullptr) serving_.open.leave(call.connection);
  };
  const bool open = Admission::is_open(method);
  if (serving_.open.draining() && !Admission::answers_to_the_end(method))
    return refuse(admission_.going_down());
  auto who = open ? Result<IdentityPtr>(admission_.anybody()) : identify(head);
  Result<> admitted = call.connection == nullptr ? Result<>(admission_.too_many_calls())
                      : !who.ok()                ? Result<>(who.error())
                      : open                     ? Result<>()
                                                 : admission_.admit(**who, method, path);
  const bool legal = std::all_of(head.headers.begin(), head.headers.end(), is_legal_header);
  if (admitted.ok() && !legal) admitted = Admission::bad_header();
  if (!admitted.ok()) {
    admission_.log_refusal(admitted.error(), path, call.peer);
    return refuse(End::of(admitted.error()));
  }
  call.metadata = for_the_method(head.headers);
  if (call.terms.form == Form::json) call.json = json_.at(method).get();
  auto* served = new ConnectServedCall(serving_, *method, std::move(*who), std::move(call));
  served->begin();
  // A drain that has begun since has not seen this call.
  if (serving_.open.draining() && method->streams_answers()) served->ask_to_end();
  served->offer();
}

void ConnectServer::look_after() {
  if (settings_.tls()) {
    certificate_.look();
    if (const auto pem = certificate_.take()) {
      auto made = server_tls(*pem);
      if (made.ok()) asio::post(serving_.io, [this, tls = std::move(*made)] { tls_ = tls; });
    }
  }
  serving_.open.end_late(
      std::chrono::steady_clock::now() - settings_.request_timeout,
      {Code::deadline_exceeded,
       "no request came within " + std::to_string(settings_.request_timeout.count()) + " ms",
       {}});
  asio::post(serving_.io, [this] {
    const auto all = connections_;
    for (const auto& c : all) c->tick(std::chrono::steady_clock::now());
  });
}

void ConnectServer::drain() {
  serving_.open.drain();
  serving_.open.ask_streams_to_end();
}

bool ConnectServer::wait_until_no_connection(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return closed_.wait_until(lock, deadline, [this] { return connections_count_ == 0; });
}

void ConnectServer::stop(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(stopped_, true) || !thread_.joinable()) return;
  drain();
  serving_.open.wait_until_none(deadline);
  serving_.open.end_all(admission_.going_down());
  asio::post(serving_.io, [this] {
    draining_ = true;
    for (auto& a : acceptors_) a.close();
    const auto all = connections_;
    for (const auto& c : all) c->go_away();
  });
  constexpr std::chrono::milliseconds for_the_last_bytes{500};
  wait_until_no_connection(std::chrono::steady_clock::now() + for_the_last_bytes);
  asio::post(serving_.io, [this] {
    const auto all = connections_;
    for (const auto& c : all) c->close("the server is shutting down");
  });
  const auto grace = std::chrono::steady_clock::now() + last_grace;
  if (!serving_.open.wait_until_none(grace)) {
    log_.error("rpc", "calls did not end",
               {{"server", settings_.name}, {"calls", std::to_string(serving_.open.size())}});
  }
  wait_until_no_connection(grace);
  work_.reset();
  serving_.io.stop();
  thread_.join();
}

}  // namespace davit::host
