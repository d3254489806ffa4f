// What a transport gives to the RPC layer: servers and channels made from settings. grpc/
// and connect/ implement it; another transport is another folder with these two makers.
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

// After the deadline of stop only what cannot be waited for any longer is left: callbacks that
// wait for a thread.
inline constexpr std::chrono::seconds last_grace{2};

// One listener and the calls that come by it.
class RpcServer {
 public:
  virtual ~RpcServer() = default;
  // Whether listen would succeed, as far as that can be seen without binding: tokens, certificates.
  // Errors name the server.
  virtual Result<> check() = 0;
  virtual Result<> listen() = 0;
  // Where it listens, with the real port; after listen.
  virtual std::string address() const = 0;
  // Once a second, from listen on: callers that keep it waiting, or whose token was taken away.
  // Must not block.
  virtual void look_after() = 0;
  // Once a second, from listen on, on a thread that may wait for a disk: files that change.
  virtual void read_files() = 0;
  // Reads other tokens; what it gives takes them when it is called, and cannot fail. Those that are
  // not among them, or say something else, are then revoked. Blocks; files that change are looked
  // at again when what it gave is destroyed, on the same thread.
  virtual Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings>) = 0;
  // What is doubtful about its tokens' files, to be said at start.
  virtual std::vector<std::string> doubts() = 0;
  // New calls are refused with UNAVAILABLE and a hint when to come back; calls that stream answers
  // are asked to end; the others go on. Idempotent. [any]
  virtual void drain() = 0;
  // Drains, waits for the calls to end until `deadline`, ends what is left, and returns when no
  // callback will come any more. Not on a thread of the runtime: the calls' strands must run.
  virtual void stop(std::chrono::steady_clock::time_point deadline) = 0;
};

// A named connection to a server.
class RpcClient {
 public:
  explicit RpcClient(ClientSettings s) : settings_(std::move(s)) {}
  virtual ~RpcClient() = default;
  const ClientSettings& settings() const { return settings_; }

  // Whether the files it needs can be used.
  virtual Result<> check() = 0;
  // What is doubtful about its token's file, to be said at start; empty: nothing.
  virtual std::string doubt() = 0;
  virtual davit_rpc_call* start(const davit_rpc_start&, davit_strand*, const davit_rpc_handler*,
                                void* self) = 0;
  // Cancels what is open and waits for it until `deadline`; false when something is left.
  virtual bool stop(std::chrono::steady_clock::time_point deadline) = 0;

 private:
  ClientSettings settings_;
};

std::unique_ptr<RpcServer> make_grpc_server(const Core&, ServerSettings, const MethodRegistry&);
std::unique_ptr<RpcClient> make_grpc_client(const Core&, ClientSettings);
std::unique_ptr<RpcServer> make_connect_server(const Core&, ServerSettings, const MethodRegistry&);
std::unique_ptr<RpcClient> make_connect_client(const Core&, ClientSettings);

}  // namespace davit::host
