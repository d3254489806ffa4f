#include "connect_client.hpp"

#include <pthread.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>

#include "core.hpp"
#include "services/host_and_port.hpp"
#include "tls.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds first_backoff{200};
constexpr std::chrono::seconds connect_timeout{10};  // TLS included
// How much a server may send before it is read: on one stream, and on all together.
constexpr uint32_t stream_window = 1u << 20, connection_window = 8u << 20;
constexpr uint32_t answer_head_bytes_max = 64u << 10;

}  // namespace

std::unique_ptr<RpcClient> make_connect_client(const Core& core, ClientSettings settings) {
  return std::make_unique<ConnectClient>(core.log, std::move(settings));
}

ConnectClient::ConnectClient(Log& log, ClientSettings s)
    : RpcClient(std::move(s)), caller_(log, settings()) {}

ConnectClient::~ConnectClient() {
  stop(std::chrono::steady_clock::now());
}

Result<> ConnectClient::check() {
  return caller_.check();
}

Pairs ConnectClient::head(const davit_rpc_start& start, const Pairs& own, bool streams) const {
  const std::string type = streams ? "application/connect+proto" : "application/proto";
  Pairs out{{":method", "POST"},
            {":scheme", settings().tls() ? "https" : "http"},
            {":authority", settings().target()},
            {":path", "/" + text(start.path)},
            {"content-type", type},
            {"connect-protocol-version", "1"},
            {streams ? "connect-accept-encoding" : "accept-encoding", "gzip"},
            {"user-agent", std::string("davit/") + DAVIT_VERSION}};
  if (start.deadline_ns != INT64_MAX) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const auto left = std::chrono::nanoseconds(start.deadline_ns) - now;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    out.emplace_back("connect-timeout-ms",
                     std::to_string(std::clamp<int64_t>(ms, 0, 9'999'999'999)));
  }
  out.insert(out.end(), own.begin(), own.end());
  for (auto& entry : metadata_to_wire(from_abi(start.metadata, start.metadata_count)))
    out.push_back(std::move(entry));
  return out;
}

davit_rpc_call* ConnectClient::start(const davit_rpc_start& start, davit_strand* strand,
                                     const davit_rpc_handler* handler, void* self) {
  std::call_once(started_, [this] {
    work_.emplace(io_.get_executor());
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "connect");
      io_.run();
    });
  });
  auto* started = new ConnectStartedCall(io_.get_executor(), caller_, text(start.path),
                                         Callbacks(strand, handler, self));
  StartedCall* const call = &started->call();
  caller_.begun(call);
  auto own = caller_.metadata();
  if (!own.ok()) {
    call->fail(End::of(own.error().in(settings().name)));
    return call;
  }
  CalledStream::CallRequest request;
  request.streams = start.streaming != 0;
  request.head = head(start, *own, request.streams);
  request.answer_bytes_max = static_cast<uint32_t>(settings().response_bytes_max);
  if (start.deadline_ns != INT64_MAX)
    request.deadline.emplace(std::chrono::nanoseconds(start.deadline_ns));
  asio::post(io_, [this, stream = started->start(std::move(request))] { open(stream); });
  return call;
}

void ConnectClient::open(const std::shared_ptr<CalledStream>& stream) {
  if (try_open(stream)) return;
  if (stopping_) return stream->fail({Code::cancelled, "the host is going down"});
  if (!attempt_ && std::chrono::steady_clock::now() < not_before_)
    return stream->fail({Code::unavailable, why_});
  waiting_.push_back(stream);
  if (!attempt_) connect();
}

bool ConnectClient::try_open(const std::shared_ptr<CalledStream>& stream) {
  if (open_.session == nullptr) return false;
  if (!stream->is_wanted()) return true;
  auto http = open_.session->request(stream->head(), false);
  if (!http) {
    leave({});
    return false;
  }
  stream->attach(std::move(http));
  return true;
}

void ConnectClient::connect() {
  const auto attempt = attempt_ = std::make_shared<Attempt>(io_);
  const HostAndPort at = *host_and_port(settings().target());  // the settings were judged
  patience_.expires_after(connect_timeout);
  patience_.async_wait([this, attempt](boost::system::error_code cancelled) {
    if (cancelled || attempt != attempt_) return;
    failed("no connection to " + settings().url + " within " +
           std::to_string(connect_timeout.count()) + " s");
  });
  resolver_.async_resolve(
      at.host, at.service(),
      [this, attempt](boost::system::error_code e, const tcp::resolver::results_type& found) {
        resolved(attempt, e, found);
      });
}

void ConnectClient::resolved(const std::shared_ptr<Attempt>& attempt, boost::system::error_code e,
                             const tcp::resolver::results_type& found) {
  if (attempt != attempt_) return;
  if (e) return failed("cannot resolve " + settings().target() + ": " + e.message());
  asio::async_connect(
      attempt->socket, found, [this, attempt](boost::system::error_code bad, const tcp::endpoint&) {
        if (attempt != attempt_) return;
        if (bad) return failed("cannot connect to " + settings().url + ": " + bad.message());
        connected();
      });
}

void ConnectClient::connected() {
  tcp::socket& socket = attempt_->socket;
  boost::system::error_code none;
  socket.set_option(tcp::no_delay(true), none);
  std::unique_ptr<Link> link;
  if (settings().tls()) {
    auto tls = client_tls(settings());
    if (!tls.ok()) return failed(tls.error().message);
    link = tls_link(std::move(socket), *tls, host_and_port(settings().target())->host);
  } else {
    link = plain_link(std::move(socket));
  }
  const Connection::Patience patience{
      connect_timeout, settings().keepalive_interval, settings().keepalive_timeout, {}, {}};
  auto weak = std::make_shared<std::weak_ptr<Connection>>();
  const auto connection = std::make_shared<Connection>(
      std::move(link), patience,
      [this, weak](std::string_view, bool& refused) -> std::unique_ptr<HttpSession> {
        refused = settings().tls() && weak->lock()->link().protocol() != "h2";
        if (refused) return nullptr;
        Http2Session::Limits limits;
        limits.stream_window = stream_window;
        limits.connection_window = connection_window;
        limits.head_bytes_max = answer_head_bytes_max;
        return std::make_unique<Http2Session>(limits, nullptr, [weak] {
          if (const auto c = weak->lock()) c->wake();
        });
      },
      [this, weak](const std::string& why, bool) { closed(weak->lock(), why); },
      [this] { ready(); });
  *weak = attempt_->connection = connection;
  all_.push_back(connection);
  connection->start();
  tick();
}

// The attempt's connection has its session: the calls that waited are sent.
void ConnectClient::ready() {
  open_.connection = std::exchange(attempt_, nullptr)->connection;
  open_.session = static_cast<Http2Session*>(open_.connection->session());
  patience_.cancel();
  for (const auto& stream : std::exchange(waiting_, {})) open(stream);
}

// The attempt has failed.
void ConnectClient::failed(const std::string& why) {
  const auto attempt = std::exchange(attempt_, nullptr);
  boost::system::error_code none;
  attempt->socket.close(none);
  patience_.cancel();
  resolver_.cancel();
  if (attempt->connection) attempt->connection->close(why);
  back_off(why);
  for (const auto& stream : std::exchange(waiting_, {})) stream->fail({Code::unavailable, why});
}

void ConnectClient::closed(const std::shared_ptr<Connection>& connection, const std::string& why) {
  if (attempt_ && connection == attempt_->connection)
    return failed("cannot connect to " + settings().url + ": " + why);
  if (connection == open_.connection) leave(why);
}

// The connection takes no more calls. Nobody but its own streams needs it now. The next one is made
// at once if the server has spoken HTTP/2 on this one.
void ConnectClient::leave(const std::string& why) {
  const bool spoken = open_.session->is_begun();
  open_ = {};
  if (spoken) {
    backoff_ = {};
    return;
  }
  back_off("cannot connect to " + settings().url + ": " +
           (why.empty() ? "the server does not speak HTTP/2" : why));
}

void ConnectClient::back_off(const std::string& why) {
  why_ = why;
  backoff_ = std::min(std::max(first_backoff, 2 * backoff_), settings().reconnect_backoff_max);
  not_before_ = std::chrono::steady_clock::now() + backoff_;
}

// Finds lost connections by their silence: each connection asks its peer.
void ConnectClient::tick() {
  ticker_.expires_after(
      std::min<std::chrono::milliseconds>(std::chrono::seconds(1), settings().keepalive_timeout));
  ticker_.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled) return;
    std::erase_if(all_, [](const auto& weak) { return weak.expired(); });
    const auto all = all_;
    for (const auto& weak : all) {
      if (const auto c = weak.lock()) c->tick(std::chrono::steady_clock::now());
    }
    if (!all_.empty()) tick();
  });
}

bool ConnectClient::stop(std::chrono::steady_clock::time_point deadline) {
  const bool all = caller_.end_all(deadline);
  if (!thread_.joinable()) return all;
  asio::post(io_, [this] {
    stopping_ = true;
    attempt_.reset();
    for (const auto& weak : std::exchange(all_, {})) {
      if (const auto c = weak.lock()) c->close("the host is going down");
    }
    io_.stop();
  });
  thread_.join();
  return all;
}

}  // namespace davit::host
