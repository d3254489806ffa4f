#include "grpc_server.hpp"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include <algorithm>

#include "../cut.hpp"
#include "assembly/extension.hpp"
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
      front_(core, std::move(settings), methods),
      settings_(front_.settings()) {
  serving_.retry_after = settings_.retry_after;
  serving_.server = settings_.name;
  serving_.log = &log_;
}

GrpcServer::~GrpcServer() {
  stop(std::chrono::steady_clock::now());
}

Result<> GrpcServer::check() {
  return front_.check();
}

Result<> GrpcServer::listen() {
  if (auto r = check(); !r.ok()) return r;
  if (auto r = front_.bind(); !r.ok()) return r;
  grpc::ServerBuilder builder;
  set_limits(builder, settings_, methods_.request_bytes_max());
  builder.RegisterCallbackGenericService(this);
  if (!settings_.on_unix_socket()) {
    using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        Type::FROM_FD, server_credentials(settings_, front_.certificate()));
  }
  server_ = builder.BuildAndStart();
  if (!server_) return Error{Code::unavailable, front_.name() + ": gRPC cannot start", {}, {}};
  return front_.start([this](Visitor v) { entered(std::move(v)); },
                      [this] {
                        // Many connections may be refused in a second, and each sweep looks at all
                        // that exist.
                        constexpr std::chrono::milliseconds between{100};
                        const auto now = std::chrono::steady_clock::now();
                        if (now - swept_ < between) return;
                        swept_ = now;
                        sweep();
                      });
}

void GrpcServer::entered(Visitor visitor) {
  const int fd = visitor.fd.release();
  const std::string before = handed_over_.add(fd, visitor.address);
  if (!before.empty()) front_.door().leave(before);
  if (acceptor_) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = fd;
    return acceptor_->HandleNewConnection(&connection);
  }
  {
    // gRPC names a connection that it is handed after its descriptor. If the number was used
    // before, this is a new connection.
    const std::lock_guard lock(users_mutex_);
    users_[visitor.connection] = std::move(visitor.user);
  }
  grpc::AddInsecureChannelFromFd(server_.get(), fd);
}

void GrpcServer::sweep() {
  for (const auto& address : handed_over_.sweep()) front_.door().leave(address);
}

Result<IdentityPtr> GrpcServer::identify(const grpc::GenericCallbackServerContext& context) {
  if (settings_.on_unix_socket()) {
    const std::lock_guard lock(users_mutex_);
    const auto found = users_.find(context.peer());
    if (found != users_.end()) return found->second;
    return Error{Code::internal, "a connection without peer credentials", {}, {}};
  }
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range("authorization");
  if (first == last) return front_.admission().authenticate(nullptr);
  std::string_view header = view(first->second);
  if (std::next(first) != last) header = {};  // two credentials are ambiguous: invalid
  return front_.admission().authenticate(&header);
}

// The name of a connection for logs.
std::string GrpcServer::shown(const std::string& connection) {
  if (!settings_.on_unix_socket()) return connection;
  const std::lock_guard lock(users_mutex_);
  const auto found = users_.find(connection);
  return "unix:" + (found != users_.end() ? found->second->name() : connection);
}

grpc::ServerGenericBidiReactor* GrpcServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  Admission& admission = front_.admission();
  const std::string connection = context->peer();
  const OpenCalls::Place place = serving_.open.enter(connection, admission.calls_max());
  if (place.first_over) cut(connection);
  std::string_view path = context->method();
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const Method* method = admission.find(path);
  const bool open = Admission::is_open(method);
  if (serving_.open.draining() && !Admission::answers_to_the_end(method))
    return refuse(serving_, context, admission.going_down(), place.connection);
  const std::string peer = shown(connection);
  auto entry = admission.enter(
      method, {path, peer, place.connection != nullptr, are_legal(context->client_metadata()),
               open ? Result<IdentityPtr>(IdentityPtr()) : identify(*context)});
  if (!entry.ok()) return refuse(serving_, context, End::of(entry.error()), place.connection);
  auto* call =
      new GrpcServedCall(serving_, *method, std::move(entry->who), context, peer, place.connection);
  call->keep(std::move(entry->account));
  auto* reactor = call->reactor();
  // If a drain has begun in the meantime, it has not seen this call.
  if (serving_.open.draining() && method->streams_answers()) call->ask_to_end();
  call->offer();
  return reactor;
}

void GrpcServer::look_after() {
  front_.door().look_after();
  sweep();
  serving_.open.end_late(
      std::chrono::steady_clock::now() - settings_.request_timeout,
      {Code::deadline_exceeded,
       "no request came within " + std::to_string(settings_.request_timeout.count()) + " ms",
       {}});
  serving_.open.end_revoked(Admission::revoked());
}

void GrpcServer::read_files() {
  front_.admission().refresh();
  if (!settings_.tls()) return;
  // The calls were ended at the previous look, so their ends have had a second to be sent.
  if (std::exchange(authority_withdrawn_, false)) handed_over_.shut_down();
  front_.certificate().look();
  if (!front_.certificate().has_withdrawn()) return;
  authority_withdrawn_ = true;
  serving_.open.end_all(ServerCertificate::withdrawn());
}

void GrpcServer::drain() {
  serving_.open.drain();
  serving_.open.ask_streams_to_end();
}

void GrpcServer::stop(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(stopped_, true)) return;
  if (!server_) return front_.stop();
  drain();
  serving_.open.wait_until_none(deadline);
  serving_.open.end_all(front_.admission().going_down());
  front_.stop();
  server_->Shutdown(std::chrono::system_clock::now());
  if (!serving_.open.wait_until_none(std::chrono::steady_clock::now() + last_grace)) {
    log_.error("rpc", "calls did not end",
               {{"server", settings_.name}, {"calls", std::to_string(serving_.open.size())}});
  }
}

}  // namespace davit::host
