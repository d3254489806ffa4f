// The interfaces between the RPC layer and its transports: RpcServer is one listener with its
// calls, RpcClient one connection to a server. grpc/ and connect/ implement them. Another transport
// is another folder with the same two makers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <davit/types.hpp>

#include "method_registry.hpp"
#include "settings.hpp"

namespace davit::host {

struct Core;

// How long `stop` still waits after its deadline for callbacks that need a thread.
inline constexpr std::chrono::seconds last_grace{2};

// One listener and the calls that arrive on it.
class RpcServer {
 public:
  virtual ~RpcServer() = default;
  // Whether `listen` would succeed, as far as that shows without binding: tokens and certificates
  // are usable. Errors name the server.
  virtual Result<> check() = 0;
  virtual Result<> listen() = 0;
  // The address with its real port, after `listen`.
  virtual std::string address() const = 0;
  // Called once a second from `listen` on. Ends calls whose request is late or whose token was
  // revoked. Must not block.
  virtual void look_after() = 0;
  // Called once a second from `listen` on, on a thread that may wait for a disk. Reads changed
  // files.
  virtual void read_files() = 0;
  // Reads another list of tokens and returns the function that puts it into effect, which cannot
  // fail. Tokens that are not in the list or have other settings are then revoked. Blocks. Files
  // are not watched until the returned function is destroyed; destroy it on the same thread.
  virtual Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings>) = 0;
  // Whether a token of an agent names the region. [any]
  virtual bool knows_region(std::string_view region) = 0;
  // What is doubtful about its token files, to be logged at start.
  virtual std::vector<std::string> doubts() = 0;
  // Refuses new calls with UNAVAILABLE and a hint when to come back. Asks calls that stream answers
  // to end; the others go on. Idempotent. [any]
  virtual void drain() = 0;
  // Drains, waits until `deadline` for the calls to end, ends the rest, and returns when no more
  // callback follows. Not on a thread of the runtime: the calls' strands must run.
  virtual void stop(std::chrono::steady_clock::time_point deadline) = 0;
};

// A named connection to a server.
class RpcClient {
 public:
  explicit RpcClient(ClientSettings s) : settings_(std::move(s)) {}
  virtual ~RpcClient() = default;
  const ClientSettings& settings() const { return settings_; }

  // Whether the token and TLS files can be used.
  virtual Result<> check() = 0;
  // What is doubtful about its token file, to be logged at start. Empty: nothing.
  virtual std::string doubt() = 0;
  virtual davit_rpc_call* start(const davit_rpc_start&, davit_strand*, const davit_rpc_handler*,
                                void* self) = 0;
  // Cancels the open calls and waits for them until `deadline`. False if some are left.
  virtual bool stop(std::chrono::steady_clock::time_point deadline) = 0;

 private:
  ClientSettings settings_;
};

std::unique_ptr<RpcServer> make_grpc_server(const Core&, ServerSettings, const MethodRegistry&);
std::unique_ptr<RpcClient> make_grpc_client(const Core&, ClientSettings);
std::unique_ptr<RpcServer> make_connect_server(const Core&, ServerSettings, const MethodRegistry&);
std::unique_ptr<RpcClient> make_connect_client(const Core&, ClientSettings);

}  // namespace davit::host
