#include "grpc_server.hpp"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>
#include <unistd.h>

#include "../bind_error.hpp"
#include "../cut.hpp"
#include "assembly/extension.hpp"
#include "credentials.hpp"
#include "library.hpp"
#include "metadata.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

// What gRPC allows by itself: tokens, names and traces fit in many times over.
constexpr int metadata_bytes_max = 8 << 10;
// Peers may look whether we are there this often.
constexpr int ping_interval_min_ms = 1'000;

Result<> check_headers(const GrpcMetadata& headers) {
  for (const auto& [key, value] : headers) {
    if (is_legal(view(key), view(value))) continue;
    return Admission::bad_header();
  }
  return {};
}

void set_limits(grpc::ServerBuilder& builder, const ServerSettings& s, uint32_t request_bytes_max) {
  // A little more than any method takes, so that the refusal can name the method's own limit.
  constexpr int64_t room = 1 << 20;
  builder.SetMaxReceiveMessageSize(
      static_cast<int>(std::min<int64_t>(request_bytes_max + room, INT32_MAX)));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error
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
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, metadata_bytes_max);
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
      settings_(std::move(settings)),
      methods_(methods),
      admission_(core, settings_, methods),
      certificate_(core, settings_) {
  serving_.retry_after = settings_.retry_after;
  serving_.server = settings_.name;
  serving_.log = &log_;
}

GrpcServer::~GrpcServer() {
  stop(std::chrono::steady_clock::now());
}

Result<> GrpcServer::prepare() {
  if (settings_.on_unix_socket()) {
    auto users = PeerUsers::make(settings_.allow_users, settings_.allow_group);
    if (!users.ok()) return users.error();
    users_ = std::move(*users);
    return {};
  }
  if (auto r = admission_.load(); !r.ok()) return r;
  return settings_.tls() ? certificate_.load() : Result<>();
}

Result<> GrpcServer::check() {
  auto r = prepare();
  return r.ok() ? r : r.error().in(name());
}

Error GrpcServer::cannot_listen(const std::string& why) const {
  const char* advice = settings_.on_unix_socket() ? "set another path in " : "set another port in ";
  return {Code::unavailable,
          name() + ": cannot listen on " + settings_.listen + ": " + why + " (" + advice +
              settings_.listen_where + ")",
          {},
          {}};
}

Result<> GrpcServer::listen() {
  if (auto r = check(); !r.ok()) return r;
  auto r = settings_.on_unix_socket() ? listen_unix() : listen_tcp();
  if (r.ok()) log_.info("rpc", "listening", {{"server", settings_.name}, {"address", address_}});
  return r;
}

Result<> GrpcServer::listen_tcp() {
  grpc::ServerBuilder builder;
  set_limits(builder, settings_, methods_.request_bytes_max());
  builder.RegisterCallbackGenericService(this);
  int port = 0;
  builder.AddListeningPort(settings_.listen, server_credentials(settings_, certificate_), &port);
  server_ = builder.BuildAndStart();
  if (!server_ || port == 0) return cannot_listen(bind_error(settings_.listen));
  address_ = settings_.listen.substr(0, settings_.listen.rfind(':') + 1) + std::to_string(port);
  return {};
}

Result<> GrpcServer::listen_unix() {
  grpc::ServerBuilder builder;
  set_limits(builder, settings_, methods_.request_bytes_max());
  builder.RegisterCallbackGenericService(this);
  server_ = builder.BuildAndStart();
  if (!server_) return cannot_listen("gRPC cannot start");
  auto r =
      listener_.listen(settings_.unix_path(), users_.group(), [this](int fd) { accepted(fd); });
  if (!r.ok()) return cannot_listen(r.error().message);
  address_ = settings_.listen;
  return {};
}

void GrpcServer::accepted(int fd) {
  auto who = users_.identify(fd);
  if (!who.ok()) {
    close(fd);
    return;
  }
  {
    // gRPC names a connection it is handed after its descriptor. A number that is used again is a
    // new connection.
    const std::lock_guard lock(peers_mutex_);
    peers_["fd:" + std::to_string(fd)] = std::move(*who);
  }
  grpc::AddInsecureChannelFromFd(server_.get(), fd);
}

Result<IdentityPtr> GrpcServer::identify(const grpc::GenericCallbackServerContext& context) {
  if (settings_.on_unix_socket()) {
    const std::lock_guard lock(peers_mutex_);
    const auto found = peers_.find(context.peer());
    if (found != peers_.end()) return found->second;
    return Error{Code::internal, "a connection without peer credentials", {}, {}};
  }
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range("authorization");
  if (first == last) return admission_.authenticate(nullptr);
  std::string_view header = view(first->second);
  if (std::next(first) != last) header = {};  // two credentials: which one is meant?
  return admission_.authenticate(&header);
}

grpc::ServerGenericBidiReactor* GrpcServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const std::string connection = context->peer();
  const OpenCalls::Place place = serving_.open.enter(connection, admission_.calls_max());
  if (place.first_over) cut(connection);
  std::string_view path = context->method();
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  const Method* method = admission_.find(path);
  const bool open = Admission::is_open(method);
  if (serving_.open.draining() && !Admission::answers_to_the_end(method))
    return refuse(serving_, context, admission_.going_down(), place.connection);
  auto who = open ? Result<IdentityPtr>(admission_.anybody()) : identify(*context);
  Result<> admitted = place.connection == nullptr ? Result<>(admission_.too_many_calls())
                      : !who.ok()                 ? Result<>(who.error())
                      : open                      ? Result<>()
                                                  : admission_.admit(**who, method, path);
  if (auto r = check_headers(context->client_metadata()); admitted.ok() && !r.ok()) admitted = r;
  std::string peer = connection;
  if (settings_.on_unix_socket() && !open) peer = "unix:" + (who.ok() ? (*who)->name() : peer);
  if (!admitted.ok()) {
    admission_.log_refusal(admitted.error(), path, peer);
    return refuse(serving_, context, End::of(admitted.error()), place.connection);
  }
  auto* call = new GrpcServedCall(serving_, *method, std::move(*who), context, std::move(peer),
                                  place.connection);
  auto* reactor = call->reactor();
  // A drain that has begun since has not seen this call.
  if (serving_.open.draining() && method->streams_answers()) call->ask_to_end();
  call->offer();
  return reactor;
}

void GrpcServer::look_after() {
  if (settings_.tls()) certificate_.look();
  serving_.open.end_late(
      std::chrono::steady_clock::now() - settings_.request_timeout,
      {Code::deadline_exceeded,
       "no request came within " + std::to_string(settings_.request_timeout.count()) + " ms",
       {}});
}

void GrpcServer::drain() {
  serving_.open.drain();
  serving_.open.ask_streams_to_end();
}

void GrpcServer::stop(std::chrono::steady_clock::time_point deadline) {
  if (std::exchange(stopped_, true)) return;
  listener_.stop();
  if (!server_) return;
  drain();
  serving_.open.wait_until_none(deadline);
  serving_.open.end_all(admission_.going_down());
  server_->Shutdown(std::chrono::system_clock::now());
  if (!serving_.open.wait_until_none(std::chrono::steady_clock::now() + last_grace)) {
    log_.error("rpc", "calls did not end",
               {{"server", settings_.name}, {"calls", std::to_string(serving_.open.size())}});
  }
}

}  // namespace davit::host
