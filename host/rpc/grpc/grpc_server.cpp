#include "grpc_server.hpp"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include <algorithm>

#include "../method_headers.hpp"
#include "core.hpp"
#include "credentials.hpp"
#include "library.hpp"
#include "metadata.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

// Callers may send keep-alive pings this often.
constexpr int ping_interval_min_ms = 1'000;

bool are_legal(const GrpcMetadata& headers) {
  return std::all_of(headers.begin(), headers.end(), [](const auto& header) {
    return is_legal(view(header.first), view(header.second));
  });
}

// The call's deadline on the monotonic clock.
int64_t deadline_of(const grpc::GenericCallbackServerContext& context) {
  const auto at = context.deadline();
  if (at == std::chrono::system_clock::time_point::max()) return INT64_MAX;
  const auto left = at - std::chrono::system_clock::now();
  return (std::chrono::steady_clock::now().time_since_epoch() + left).count();
}

void set_limits(grpc::ServerBuilder& builder, const ServerSettings& s, uint32_t request_bytes_max) {
  // Slightly more than any method accepts, so that the refusal can name the method's own limit.
  constexpr int64_t room = 1 << 20;
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<int64_t>(request_bytes_max + room, INT32_MAX)));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(s.streams_max));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                             static_cast<int>(s.keepalive_interval.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             static_cast<int>(s.keepalive_timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             ping_interval_min_ms);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(s.request_timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, static_cast<int>(s.header_bytes_max));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(s.idle_timeout.count()));
  if (s.memory_bytes_max > 0) {
    builder.SetResourceQuota(grpc::ResourceQuota("rpc.server." + s.name)
                                 .Resize(static_cast<size_t>(s.memory_bytes_max)));
  }
}

}  // namespace

std::unique_ptr<RpcServer> make_grpc_server(const Core& core, ServerSettings settings,
                                            const MethodRegistry& methods) {
  tame_grpc();
  return std::make_unique<GrpcServer>(core, std::move(settings), methods);
}

GrpcServer::GrpcServer(const Core& core, ServerSettings settings, const MethodRegistry& methods)
    : log_(core.log),
      methods_(methods),
      acceptor_(core, std::move(settings), methods),
      settings_(acceptor_.settings()),
      serving_{{log_, acceptor_.admission().going_down()}} {}

GrpcServer::~GrpcServer() {
  stop(std::chrono::steady_clock::now());
}

Result<> GrpcServer::check() {
  return acceptor_.check();
}

Result<> GrpcServer::listen() {
  if (auto r = check(); !r.ok()) return r;
  if (auto r = acceptor_.bind(); !r.ok()) return r;
  grpc::ServerBuilder builder;
  set_limits(builder, settings_, methods_.request_bytes_max());
  builder.RegisterCallbackGenericService(this);
  if (!settings_.on_unix_socket()) {
    using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    grpc_acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        Type::FROM_FD, server_credentials(settings_, acceptor_.certificate()));
  }
  server_ = builder.BuildAndStart();
  if (!server_) return Error{Code::unavailable, acceptor_.name() + ": gRPC cannot start"};
  return acceptor_.start([this](AcceptedConnection v) { entered(std::move(v)); },
                         [this] {
                           // Many connections may be refused in a second, and each sweep looks at
                           // all that exist.
                           constexpr std::chrono::milliseconds between{100};
                           const auto now = std::chrono::steady_clock::now();
                           if (now - swept_ < between) return;
                           swept_ = now;
                           sweep();
                         });
}

void GrpcServer::entered(AcceptedConnection incoming) {
  const auto added = serving_.connections.add(std::move(incoming.fd), incoming);
  if (!added.before.empty()) acceptor_.connection_limits().leave(added.before);
  if (!grpc_acceptor_) return grpc::AddInsecureChannelFromFd(server_.get(), added.fd);
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
  connection.fd = added.fd;
  grpc_acceptor_->HandleNewConnection(&connection);
}

void GrpcServer::sweep() {
  for (const auto& address : serving_.connections.sweep())
    acceptor_.connection_limits().leave(address);
}

Result<IdentityPtr> GrpcServer::identify(const grpc::GenericCallbackServerContext& context,
                                         const IdentityPtr& user) {
  if (user) return user;
  if (settings_.on_unix_socket())
    return Error{Code::internal, "a connection without peer credentials"};
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range("authorization");
  if (first == last) return acceptor_.admission().authenticate(nullptr);
  std::string_view header = view(first->second);
  if (std::next(first) != last) header = {};  // two credentials are ambiguous: invalid
  return acceptor_.admission().authenticate(&header);
}

grpc::ServerGenericBidiReactor* GrpcServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  Admission& admission = acceptor_.admission();
  const std::string connection = context->peer();
  const OpenCalls::Place place = serving_.open.enter(connection, admission.calls_max());
  if (place.first_over) serving_.connections.cut(connection);
  std::string_view path = context->method();
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const Method* method = admission.find(path);
  const bool open = Admission::is_open(method);
  if (serving_.open.draining() && !Admission::answers_to_the_end(method))
    return refuse(serving_, context, serving_.going_down, place.connection);
  // NULL for TCP, and for a caller that has already gone.
  const IdentityPtr user = serving_.connections.user(connection);
  const std::string peer = !settings_.on_unix_socket() ? connection
                           : user                      ? "unix:" + user->name()
                                                       : "unix:unknown";
  auto entry = admission.enter(
      method, {path, peer, place.connection != nullptr, are_legal(context->client_metadata()),
               open ? Result<IdentityPtr>(IdentityPtr()) : identify(*context, user)});
  if (!entry.ok()) return refuse(serving_, context, End::of(entry.error()), place.connection);
  auto* served = new GrpcServedCall(
      serving_,
      {*method, std::move(entry->who), std::move(entry->account), peer,
       headers_for_the_method(from_grpc(context->client_metadata())), deadline_of(*context)},
      context, place.connection);
  auto* reactor = served->reactor();
  served->call().offer();
  return reactor;
}

void GrpcServer::look_after() {
  acceptor_.connection_limits().look_after();
  sweep();
  serving_.open.end_late(
      std::chrono::steady_clock::now() - settings_.request_timeout,
      {Code::deadline_exceeded,
       "no request came within " + std::to_string(settings_.request_timeout.count()) + " ms"});
  serving_.open.end_revoked(Admission::revoked());
}

void GrpcServer::read_files() {
  acceptor_.admission().refresh();
  if (!settings_.tls()) return;
  // The calls were ended at the previous look, so their ends have had a second to be sent.
  if (std::exchange(authority_withdrawn_, false)) serving_.connections.shut_down();
  acceptor_.certificate().look();
  if (!acceptor_.certificate().has_withdrawn()) return;
  authority_withdrawn_ = true;
  serving_.open.end_all(ServerCertificate::withdrawn());
}

void GrpcServer::drain() {
  acceptor_.drain();
  serving_.open.drain();
  serving_.open.ask_streams_to_end();
}

void GrpcServer::stop(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(stopped_, true)) return;
  if (!server_) return acceptor_.stop();
  drain();
  serving_.open.wait_until_none(deadline);
  serving_.open.end_all(serving_.going_down);
  acceptor_.stop();
  server_->Shutdown(std::chrono::system_clock::now());
  if (!serving_.open.wait_until_none(std::chrono::steady_clock::now() + last_grace)) {
    log_.error("rpc", "calls did not end",
               {{"server", settings_.name}, {"calls", std::to_string(serving_.open.size())}});
  }
}

}  // namespace davit::host
