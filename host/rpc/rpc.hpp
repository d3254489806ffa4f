// Rpc is the RPC layer as an extension of the host. It reads [rpc.server.*] and [rpc.client.*],
// collects the methods that plugins serve, opens the listeners, and provides the C table of
// davit.rpc/1.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client_certificate.hpp"
#include "extension.hpp"
#include "file_reader.hpp"
#include "method_registry.hpp"
#include "own/health_check.hpp"
#include "own/reflection.hpp"
#include "own/token_service.hpp"
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
  std::string unwritten() const override { return unwritten_; }
  Result<> wired(bool check) override;
  std::vector<Described> describe() const override;
  Result<> listen() override;
  // Reloads the tokens of the listeners that existed at start.
  std::function<void()> prepare_reload(const Config&, Faults&,
                                       std::vector<std::string>& live) override;
  void drain() override;
  void stop(std::chrono::steady_clock::time_point deadline) override;

  // The address with its real port. Empty if there is no such server.
  std::string address(std::string_view server) const;

  // Slots of the C table. `serve` and `channel` work only while plugins are wired.
  Result<> serve(std::string_view instance, const davit_rpc_method&);
  Result<RpcClient*> channel(std::string_view instance, std::string_view name);
  // Whether a token of an agent names the region: from `configure` on those of the configuration,
  // once wired those of agent_tokens_dir, too. [any]
  bool region_known(std::string_view region) const;

 private:
  struct Table {
    davit_rpc abi;  // first: a pointer to it is a pointer to the table
    Rpc* owner;
  };
  friend int32_t rpc_serve(const davit_host*, const davit_rpc_method*, davit_error*);
  friend int32_t rpc_region_known(const davit_host*, davit_str) noexcept;
  friend int32_t rpc_channel(const davit_host*, davit_str, davit_rpc_channel**, davit_error*);
  static Rpc& of(const davit_host*);
  Result<> serve_own();
  bool serves_operators() const;
  void set_token_service();
  bool post_to_files(std::function<void()> job);
  void share_connections();
  void look_at_certificates();
  void warn_of_what_is_open();
  void warn_of_tokens(const ServerSettings&);
  Result<> check_role(const ServerSettings&, const TokenSettings&) const;
  Result<> check_role_without_token(const ServerSettings&) const;
  // `warn` is called if no method asks for the role, nor for one of nearly the same name.
  Result<> check_role(const std::string& role, const std::string& key,
                      const std::function<void()>& warn) const;
  // New tokens of one listener, read and checked, and not yet in use.
  struct OtherTokens {
    ServerSettings* of;
    std::vector<TokenSettings> settings;
    std::function<void()> take;
  };
  void take(const std::vector<OtherTokens>&);

  const Core core_;
  Table table_;
  // The host as a plugin instance: its own methods are registered like a plugin's.
  Services services_;
  InstanceHost self_;
  bool wired_ = false;
  std::string client_names_;
  std::string unwritten_;
  MethodRegistry methods_;
  HealthCheck health_check_{core_.health, methods_};
  Reflection reflection_;
  TokenService token_service_{
      core_.log, [this](std::function<void()> job) { return post_to_files(std::move(job)); }};
  std::vector<NamedPlugin> plugins_;  // of the configuration
  std::vector<ServerSettings> server_settings_;
  // Guards the tokens in server_settings_, and servers_ while they are made. Only the main thread
  // writes them.
  mutable std::mutex tokens_mutex_;
  std::vector<std::unique_ptr<RpcServer>> servers_;  // one for each of server_settings_; once wired
  std::map<std::string, std::unique_ptr<RpcClient>, std::less<>> clients_;
  std::vector<std::unique_ptr<ClientCertificate>> client_certificates_;  // once wired
  std::vector<std::pair<std::string, std::string>> callers_;             // instance, client
  std::unique_ptr<Ticker> look_after_;                                   // from listen to stop
  std::mutex read_files_mutex_;                                          // guards the pointer
  std::shared_ptr<FileReader> read_files_;                               // from listen to stop
};

// The slots that a call or a channel answers by itself. Rpc fills in `serve`, `channel` and
// `region_known`.
davit_rpc call_slots();

}  // namespace davit::host
