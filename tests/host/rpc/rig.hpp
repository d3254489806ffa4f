// Two hosts in one process, as far as RPC goes: a server and a client with real threads and real
// gRPC between them, used through the SDK as plugins use it.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <davit/rpc.hpp>

#include "rpc/rpc.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/instance_host.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "services/shutdown.hpp"

namespace davit::host {

// A folder that goes with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Replaces the file at once, as a rotation does.
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

// One host's RPC layer with what it stands on.
class Side {
 public:
  explicit Side(const std::string& instance);
  ~Side();

  // Reads the TOML; faults fail the test.
  void configure(const std::string& toml);
  Result<> try_wired() { return rpc.wired(false); }
  void listen();  // wired and listening

  Host host() const { return Host(&instance_.abi); }
  davit::rpc::Channel channel(const std::string& name);
  std::vector<std::string> lines() const;  // what was logged
  void stop(std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;

 public:
  Log log;
  Runtime runtime;
  Metrics metrics;
  Health health;
  Shutdown shutdown;
  Core core;
  Rpc rpc;

 private:
  Services services_;
  InstanceHost instance_;
  bool stopped_ = false;
};

// The transport that $DAVIT_TEST_TRANSPORT names, as a line of settings; empty: the usual one.
std::string transport_line();

// A server with one TCP listener "main" and tokens for an agent and an operator, and a client
// "control".
class Rig {
 public:
  Rig();
  // Methods are served before `start`.
  davit::rpc::Server serving() { return davit::rpc::Server(server.host()); }
  void serve_unary(const std::string& path, const std::string& role,
                   std::function<void(davit::rpc::Call, Buffer, davit::rpc::Server::Reply)> work,
                   uint32_t request_bytes_max = 0);
  // `server_extra` and `client_extra` are lines of [rpc.server.main] and [rpc.client.control].
  void start(const std::string& server_extra = {}, const std::string& client_extra = {});
  std::string address() const { return server.rpc.address("main"); }
  // Another client of the same server.
  std::unique_ptr<Side> another(const std::string& client_lines);

  Folder folder;
  Side server{"streamer"}, client{"watcher"};
  davit::rpc::Channel channel;
};

// Waits until it is so; false after ninety seconds (a busy machine). Only for what no callback
// tells.
bool eventually(const std::function<bool()>&);

struct Outcome {
  Code code = Code::ok;
  std::string message;
  Pairs trailers;
  std::vector<std::string> messages;
};
// One request, every answer, and how it ended. Reads as fast as it can.
Outcome call(Side& side, const davit::rpc::Channel& channel, const std::string& path,
             std::string request, const Pairs& metadata = {}, int64_t deadline_ns = INT64_MAX);

std::ostream& operator<<(std::ostream&, const Outcome&);

}  // namespace davit::host
