#include "operator_client.hpp"

#include <cstring>
#include <limits>
#include <thread>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>

#include <davit/v1/operator.pb.h>

#include "duration.hpp"
#include "read_file.hpp"
#include "rpc/grpc/library.hpp"
#include "rpc/unreachable.hpp"
#include "text_pieces.hpp"

namespace davit::host {

namespace {

// Limits of calls when the command has no timeout.
constexpr std::chrono::seconds call_timeout{30};
constexpr std::chrono::minutes list_timeout{5};
// Pauses between gRPC's attempts to connect. By default they would grow to two minutes.
constexpr int connect_interval_min_ms = 200;
constexpr int connect_interval_max_ms = 5000;

using Message = google::protobuf::MessageLite;

// A token or certificates, without the ends of line behind them.
Result<std::string> read_credentials(const std::string& path) {
  auto text = read_file(path);
  if (!text.ok()) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  return text;
}

// Of "failed to connect to all addresses; last error: UNKNOWN: unix:/x: No such file or directory"
// only the end is useful.
std::string why_unreachable(std::string_view message, const std::string& target) {
  constexpr std::string_view mark = "last error: ";
  if (const size_t at = message.find(mark); at != std::string_view::npos)
    message.remove_prefix(at + mark.size());
  take_prefix(message, "UNKNOWN: ");
  take_prefix(message, target + ": ");
  return std::string(message);
}

// What to do about a certificate that nobody vouches for here. Empty: that is not what is wrong.
std::string certificate_hint(const std::string& message) {
  if (message.find("certificate verify failed") == std::string::npos) return {};
  return " (--ca-file names whom to trust; the certificate must have the name in the URL)";
}

// The longest time that a call waits. Empty: no limit.
using Limit = std::optional<std::chrono::milliseconds>;

// gRPC deadlines use the system clock.
std::chrono::system_clock::time_point wall(OperatorClient::Clock::time_point t) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             t - OperatorClient::Clock::now());
}

std::string path_of(const std::string& method) {
  const bool has_service = method.find('/') != std::string::npos;
  return (has_service ? "/davit.v1." : "/davit.v1.OperatorService/") + method;
}

// A call with one request, by gRPC's stub for any message. Each step waits until it is done.
class BlockingCall {
 public:
  BlockingCall(const std::shared_ptr<grpc::Channel>& channel, grpc::ClientContext& context,
               const std::string& method, const Message& request)
      : call_(grpc::TemplatedGenericStub<Message, Message>(channel).PrepareCall(
            &context, path_of(method), &queue_)) {
    call_->StartCall(nullptr);
    wait();
    call_->WriteLast(request, {}, nullptr);
    wait();
  }
  // False: no message follows.
  bool read(Message& response) {
    call_->Read(&response, nullptr);
    return wait();
  }
  // Once, last.
  grpc::Status finish() {
    grpc::Status out;
    call_->Finish(&out, nullptr);
    wait();
    return out;
  }

 private:
  bool wait() {
    void* tag = nullptr;
    bool done = false;
    return queue_.Next(&tag, &done) && done;
  }
  grpc::CompletionQueue queue_;
  const std::unique_ptr<grpc::ClientAsyncReaderWriter<Message, Message>> call_;
};

}  // namespace

void ServerAddress::add_options(Command& command) {
  command
      .option("--server", "URL", url,
              "unix:/PATH, http://HOST:PORT or https://HOST:PORT; also $DAVIT_SERVER; the packaged "
              "server's socket when absent")
      ->envname("DAVIT_SERVER");
  command.option("--token-file", "FILE", token_file,
                 "an operator's token, which a server asks for over TCP");
  command.option("--ca-file", "FILE", ca_file,
                 "whom to trust, instead of the system's authorities");
  command.duration("--timeout", "60s", timeout,
                   "give up when the command has not ended by then; without it, when a call is not "
                   "answered within 30s, or 5m for a list");
}

struct OperatorClient::Connection {
  std::string url, authorization;
  std::shared_ptr<grpc::Channel> channel;
  std::optional<std::chrono::milliseconds> timeout;
  Clock::time_point opened;

  // `limit` counts when the command has no timeout.
  void prepare(grpc::ClientContext& context, Limit limit) const {
    if (timeout) {
      context.set_deadline(wall(opened + *timeout));
    } else if (limit) {
      context.set_deadline(wall(Clock::now() + *limit));
    }
    if (!authorization.empty()) context.AddMetadata("authorization", authorization);
  }
  Error too_late(const std::string& method, Limit limit, bool heard) const {
    std::string text = "server " + url;
    if (heard) {
      text += " was still answering " + method;
    } else if (channel->GetState(false) != GRPC_CHANNEL_READY) {
      text += " could not be connected to";
    } else {
      text += " did not answer " + method;
    }
    text += (heard ? " after " : " within ") + to_text(timeout ? *timeout : *limit);
    if (!timeout) text += " (--timeout gives it longer)";
    return {Code::deadline_exceeded, std::move(text)};
  }
  // `heard`: the server had already sent a message.
  Result<> result(const grpc::Status& status, const std::string& method, Limit limit,
                  bool heard = false) const {
    if (status.ok()) return {};
    const auto code = static_cast<Code>(status.error_code());
    if (code == Code::deadline_exceeded && (timeout || limit))
      return too_late(method, limit, heard);
    if (code == Code::unauthenticated && authorization.empty()) {
      return Error{code, status.error_message() + " (--token-file names the file of a token)"};
    }
    if (code != Code::unavailable) return Error{code, status.error_message()};
    return Error{code, "server " + url +
                           " cannot be reached: " + why_unreachable(status.error_message(), url) +
                           hint_of(url, status.error_message()) +
                           certificate_hint(status.error_message())};
  }
};

OperatorClient::OperatorClient(std::unique_ptr<Connection> c) : connection_(std::move(c)) {}
OperatorClient::OperatorClient(OperatorClient&&) noexcept = default;
OperatorClient::~OperatorClient() = default;

Result<OperatorClient> OperatorClient::open(const ServerAddress& address) {
  tame_grpc();
  auto connection = std::make_unique<Connection>();
  connection->url = address.url;
  connection->timeout = address.timeout;
  connection->opened = Clock::now();
  std::string_view target = address.url;
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (take_prefix(target, "https://")) {
    grpc::SslCredentialsOptions options;
    if (!address.ca_file.empty()) {
      auto roots = read_credentials(address.ca_file);
      if (!roots.ok()) return roots.error();
      options.pem_root_certs = *roots;
    }
    credentials = grpc::SslCredentials(options);
  } else if (!take_prefix(target, "http://") && !target.starts_with("unix:")) {
    return Error{Code::invalid_argument,
                 "--server must be unix:/path, http://host:port or https://host:port, not \"" +
                     address.url + "\""};
  }
  if (!target.starts_with("unix:") && target.find(':') == std::string_view::npos) {
    return Error{Code::invalid_argument,
                 "--server: \"" + address.url + "\" names no port: " + address.url + ":7070"};
  }
  if (!address.token_file.empty()) {
    auto token = read_credentials(address.token_file);
    if (!token.ok()) return token.error();
    connection->authorization = "Bearer " + *token;
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
  // A proxy of the environment is meant for the web, not for a server that the operator names.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, connect_interval_min_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, connect_interval_max_ms);
  connection->channel = grpc::CreateCustomChannel(std::string(target), credentials, arguments);
  return OperatorClient(std::move(connection));
}

Result<> OperatorClient::call(const std::string& method, const Message& request,
                              Message& response) {
  grpc::ClientContext context;
  connection_->prepare(context, call_timeout);
  BlockingCall call(connection_->channel, context, method, request);
  const bool answered = call.read(response);
  grpc::Status status = call.finish();
  if (status.ok() && !answered) status = {grpc::StatusCode::INTERNAL, "the answer is missing"};
  return connection_->result(status, method, call_timeout);
}

Result<> OperatorClient::list(const std::string& method, const Message& request, Message& response,
                              const std::function<void()>& see) {
  grpc::ClientContext context;
  connection_->prepare(context, list_timeout);
  BlockingCall call(connection_->channel, context, method, request);
  bool heard = false;
  while (call.read(response)) {
    heard = true;
    see();
  }
  return connection_->result(call.finish(), method, list_timeout, heard);
}

Result<> OperatorClient::watch(const std::string& method, const Message& request, Message& response,
                               const std::function<bool()>& see) {
  grpc::ClientContext context;
  connection_->prepare(context, std::nullopt);
  BlockingCall call(connection_->channel, context, method, request);
  bool heard = false;
  while (call.read(response)) {
    heard = true;
    if (see()) continue;
    context.TryCancel();
    static_cast<void>(call.finish());
    return {};
  }
  const grpc::Status status = call.finish();
  if (!status.ok() && (!heard || status.error_code() != grpc::StatusCode::UNAVAILABLE))
    return connection_->result(status, method, std::nullopt, heard);
  const std::string why = status.ok() ? "" : ": " + status.error_message();
  return Error{Code::unavailable, "server " + connection_->url + " has ended the stream" + why};
}

bool OperatorClient::pause(std::chrono::milliseconds duration) const {
  const auto& c = *connection_;
  if (c.timeout && Clock::now() + duration >= c.opened + *c.timeout) return false;
  std::this_thread::sleep_for(duration);
  return true;
}

}  // namespace davit::host
