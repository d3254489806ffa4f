// The RPC layer as the host has it: reads [rpc.server.*] and [rpc.client.*], collects what plugins
// serve, opens the listeners, and puts the C table of davit.rpc/1 in front of all that.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assembly/extension.hpp"
#include "client_certificate.hpp"
#include "file_reader.hpp"
#include "method_registry.hpp"
#include "own/health_check.hpp"
#include "own/reflection.hpp"
#include "services/instance_host.hpp"
#include "services/services.hpp"
#include "ticker.hpp"
#include "transport.hpp"

namespace davit::host {

class Rpc final : public Extension {
 public:
  explicit Rpc(const Core&);
  ~Rpc() override;

  const void* service(std::string_view id) const override;
  void configure(const Config&, Faults&) override;
  Result<> wired(bool check) override;
  std::vector<Described> describe() const override;
  Result<> listen() override;
  // The tokens of listeners that were there at the start.
  std::function<void()> prepare_reload(const Config&, Faults&,
                                       std::vector<std::string>& live) override;
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

  // Where a server listens, with the real port; empty when there is no such server.
  std::string address(std::string_view server) const;

  // The slots of the table that need the layer; only while plugins are wired.
  Result<> serve(std::string_view instance, const davit_rpc_method&);
  Result<RpcClient*> channel(std::string_view instance, std::string_view name);
  // Of the tokens, so from configure on and from any thread.
  bool region_known(std::string_view region) const;

 private:
  struct Table {
    davit_rpc abi;  // first: a pointer to it is a pointer to the table
    Rpc* owner;
  };
  friend int32_t rpc_serve(const davit_host*, const davit_rpc_method*, davit_error*);
  friend int32_t rpc_region_known(const davit_host*, davit_str);
  friend int32_t rpc_channel(const davit_host*, davit_str, davit_rpc_channel**, davit_error*);
  static Rpc& of(const davit_host*);
  Result<> serve_own();
  void share_connections();
  void look_at_certificates();
  void warn_of_what_is_open();
  void warn_of_tokens(const ServerSettings&);
  // A listener's other tokens, read and checked.
  struct OtherTokens {
    ServerSettings* of;
    std::vector<TokenSettings> settings;
    std::function<void()> take;
  };
  void take(const std::vector<OtherTokens>&);

  const Core core_;
  Table table_;
  // The host as an instance of itself: its own methods are written as a plugin's are.
  Services services_;
  InstanceHost self_;
  bool wired_ = false;
  std::string client_names_;
  MethodRegistry methods_;
  HealthCheck health_check_{core_.health, methods_};
  Reflection reflection_;
  std::vector<ServerSettings> server_settings_;
  mutable std::mutex tokens_mutex_;  // guards their tokens, once wired; main alone writes
  std::vector<std::unique_ptr<RpcServer>> servers_;  // one for each of the settings, once wired
  std::map<std::string, std::unique_ptr<RpcClient>, std::less<>> clients_;
  std::vector<std::unique_ptr<ClientCertificate>> client_certificates_;  // once wired
  std::vector<std::pair<std::string, std::string>> callers_;             // instance, client
  std::unique_ptr<Ticker> look_after_;                                   // from listen to stop
  std::unique_ptr<FileReader> read_files_;                               // the same
};

// The slots that a call's handle answers by itself; `serve` and `channel` are filled in by Rpc.
davit_rpc call_slots();

}  // namespace davit::host
