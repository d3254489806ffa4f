#include "rpc.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include <davit/rpc.hpp>

#include "config/config.hpp"
#include "config/faults.hpp"
#include "config/suggest.hpp"
#include "descriptors.hpp"
#include "peer_address.hpp"
#include "services/health.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

constexpr std::string_view servers_hint =
    "is served, but there is no [rpc.server.NAME]: nobody can call it";

}  // namespace

std::unique_ptr<Extension> make_rpc(const Core& core) {
  return std::make_unique<Rpc>(core);
}

int32_t rpc_serve(const davit_host* host, const davit_rpc_method* method, davit_error* error) {
  return guard(error, [&] { return Rpc::of(host).serve(view(host->instance), *method); });
}

int32_t rpc_channel(const davit_host* host, davit_str name, davit_rpc_channel** out,
                    davit_error* error) {
  return guard(error, [&]() -> Result<> {
    auto client = Rpc::of(host).channel(view(host->instance), view(name));
    if (!client.ok()) return client.error();
    *out = reinterpret_cast<davit_rpc_channel*>(*client);
    return {};
  });
}

int32_t rpc_region_known(const davit_host* host, davit_str region) noexcept {
  return Rpc::of(host).region_known(view(region)) ? 1 : 0;
}

Rpc::Rpc(const Core& core) : core_(core), table_{call_slots(), this} {
  table_.abi.serve = &rpc_serve;
  table_.abi.channel = &rpc_channel;
  table_.abi.region_known = &rpc_region_known;
  add_host_services(services_);
  services_.add([this](std::string_view id) { return service(id); });
  self_.name = "host";
  self_.core = &core_;
  self_.services = &services_;
  self_.abi = {sizeof(davit_host), 0, str(self_.name), [](const davit_host* h, davit_str id) {
                 return instance(h).services->find(view(id));
               }};
}

Rpc::~Rpc() {
  stop(std::chrono::steady_clock::now());
}

Rpc& Rpc::of(const davit_host* host) {
  return *static_cast<const Table*>(host->query(host, str(DAVIT_RPC)))->owner;
}

const void* Rpc::service(std::string_view id) const {
  return id == DAVIT_RPC ? &table_.abi : nullptr;
}

void Rpc::configure(const Config& config, Faults& faults) {
  RpcSettings settings = RpcSettings::read(config, faults);
  unwritten_ = settings.unwritten_token();
  server_settings_ = std::move(settings.servers);
  plugins_ = plugins_of(config);
  // As many threads as the host has workers. The host reads this key as well and reports its
  // faults.
  Faults said_already;
  const int64_t threads = config.table("host", said_already).integer("worker_threads", 0, 0, 1024);
  for (auto& server : server_settings_) {
    server.threads = threads > 0 ? static_cast<unsigned>(threads)
                                 : std::max(2u, std::thread::hardware_concurrency());
  }
  for (auto& client : settings.clients) {
    std::string name = client.name;
    client_names_ += (client_names_.empty() ? "" : ", ") + name;
    // With faulty settings the host stops before a plugin could use the channel.
    if (!faults.empty()) continue;
    const bool connect = client.transport == "connect";
    clients_.emplace(std::move(name), connect ? make_connect_client(core_, std::move(client))
                                              : make_grpc_client(core_, std::move(client)));
  }
}

bool Rpc::region_known(std::string_view region) const {
  const std::lock_guard lock(tokens_mutex_);
  for (const auto& server : server_settings_) {
    for (const auto& token : server.tokens) {
      if (token.role == "agent" && davit::rpc::names_region(token.regions, region)) return true;
    }
  }
  return std::ranges::any_of(servers_, [&](const auto& s) { return s->knows_region(region); });
}

Result<> Rpc::serve(std::string_view instance, const davit_rpc_method& method) {
  if (wired_) return Error{Code::failed_precondition, "methods are served only during wire"};
  return methods_.add(instance, method);
}

Result<RpcClient*> Rpc::channel(std::string_view instance, std::string_view name) {
  if (wired_) return Error{Code::failed_precondition, "channels are found only during wire"};
  const auto found = clients_.find(name);
  if (found == clients_.end()) {
    return Error{Code::not_found,
                 "there is no [rpc.client." + std::string(name) + "]" +
                     (client_names_.empty() ? "" : " (there are: " + client_names_ + ")")};
  }
  callers_.emplace_back(instance, name);
  return found->second.get();
}

Result<> Rpc::serve_own() {
  if (server_settings_.empty()) return {};
  const Host host(&self_.abi);
  if (auto r = health_check_.serve(host); !r.ok()) return r;
  for (const auto& path : HealthCheck::paths()) methods_.set_gate(path, Gate::anybody);
  if (serves_operators())
    if (auto r = token_service_.serve(host); !r.ok()) return r;
  const bool reflected = std::any_of(server_settings_.begin(), server_settings_.end(),
                                     [](const ServerSettings& s) { return s.reflection; });
  if (!reflected) return {};
  if (auto r = reflection_.serve(host); !r.ok()) return r;
  for (const auto& path : Reflection::paths()) methods_.set_gate(path, Gate::reflection);
  reflection_.learn(methods_, core_.log);
  return {};
}

// Limits the connections of each listener to its share of the descriptors, so that the rest of the
// process does not run out of them.
void Rpc::share_connections() {
  if (server_settings_.empty()) return;
  const uint64_t descriptors = raise_descriptor_limit();
  std::vector<size_t> wanted;
  for (const auto& s : server_settings_) wanted.push_back(static_cast<size_t>(s.connections_max));
  const auto shares = share_descriptors(wanted, descriptors);
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == wanted[i]) continue;
    ServerSettings& s = server_settings_[i];
    core_.log.info("rpc",
                   "there are fewer file descriptors than connections_max (raise LimitNOFILE)",
                   {{"server", s.name},
                    {"descriptors", std::to_string(descriptors)},
                    {"connections_max", std::to_string(wanted[i])},
                    {"instead", std::to_string(shares[i])}});
    s.connections_max = static_cast<int64_t>(shares[i]);
    // Lower this limit in proportion, so that one address still leaves room for others.
    s.connections_per_address_max = std::max<int64_t>(
        1, s.connections_per_address_max * s.connections_max / static_cast<int64_t>(wanted[i]));
  }
}

Result<> Rpc::wired(bool check) {
  if (auto r = serve_own(); !r.ok()) return r;
  wired_ = true;
  if (!check) share_connections();
  for (const auto& settings : server_settings_) {
    auto server = settings.transport == "connect" ? make_connect_server(core_, settings, methods_)
                                                  : make_grpc_server(core_, settings, methods_);
    const std::lock_guard lock(tokens_mutex_);
    servers_.push_back(std::move(server));
  }
  set_token_service();
  for (const auto& [name, client] : clients_) {
    if (auto r = client->check(); !r.ok()) return r.error().in(client->settings().where);
    if (!client->settings().certificate_file.empty())
      client_certificates_.push_back(
          std::make_unique<ClientCertificate>(core_, client->settings()));
  }
  look_at_certificates();
  if (servers_.empty()) {
    for (const Method* m : methods_.all()) {
      core_.log.warn(
          "rpc", "method cannot be reached",
          {{"instance", m->instance}, {"method", m->path}, {"why", std::string(servers_hint)}});
    }
  }
  for (const auto& s : server_settings_) {
    for (const auto& token : s.tokens) {
      if (auto r = check_role(s, token); !r.ok()) return r.error().in(token.where);
    }
    if (auto r = check_role_without_token(s); !r.ok()) return r.error().in(s.role_where);
  }
  // If a listener cannot work, the start fails before any plugin is started.
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (auto r = servers_[i]->check(); !r.ok()) return r.error().in(server_settings_[i].where);
  }
  return {};
}

// A role that no method asks for opens nothing. If one asks for a role of nearly the same name, it
// is a typing error.
Result<> Rpc::check_role(const ServerSettings& s, const TokenSettings& token) const {
  return check_role(token.role, token.key, [&] {
    core_.log.warn("rpc", "no method that is served asks for the role of this token",
                   {{"server", s.name}, {"token", token.name}, {"role", token.role}});
  });
}

Result<> Rpc::check_role_without_token(const ServerSettings& s) const {
  if (s.role_without_token.empty()) return {};
  const std::string key = "rpc.server." + s.name + ".role_without_token";
  return check_role(s.role_without_token, key, [&] {
    core_.log.warn("rpc", "no method that is served asks for role_without_token",
                   {{"server", s.name}, {"role", s.role_without_token}});
  });
}

Result<> Rpc::check_role(const std::string& role, const std::string& key,
                         const std::function<void()>& warn) const {
  std::set<std::string, std::less<>> asked;
  for (const Method* m : methods_.all()) {
    if (!m->role.empty()) asked.insert(m->role);
  }
  if (asked.contains(role)) return {};
  const std::string near = nearest(role, asked);
  if (near.empty()) {
    warn();
    return {};
  }
  return Error{Code::invalid_argument, key + ": no method asks for the role \"" + role +
                                           "\"; did you mean \"" + near + "\"?"};
}

std::vector<Described> Rpc::describe() const {
  std::vector<Described> out;
  for (const auto& s : server_settings_) out.push_back({"", "listens", s.name + " " + s.listen});
  for (const Method* m : methods_.all()) out.push_back({m->instance, "serves", m->path});
  for (const auto& [instance, name] : callers_) {
    out.push_back(
        {instance, "calls", name + " (" + clients_.find(name)->second->settings().url + ")"});
  }
  return out;
}

void Rpc::look_at_certificates() {
  for (const auto& certificate : client_certificates_) certificate->look();
}

// Warns of settings that are valid but rarely intended.
void Rpc::warn_of_what_is_open() {
  for (const auto& s : server_settings_) {
    if (!s.on_unix_socket() && !s.tls() && !is_loopback(s.listen)) {
      core_.log.warn(
          "rpc",
          "a listener without TLS can be reached from other machines: tokens and records "
          "can be read on the way (tls_certificate_file)",
          {{"server", s.name}, {"listen", s.listen}});
    }
    warn_of_tokens(s);
  }
  for (const auto& server : servers_) {
    for (const auto& doubt : server->doubts())
      core_.log.warn("rpc", "token file", {{"what", doubt}});
  }
  for (const auto& [name, client] : clients_) {
    if (const auto doubt = client->doubt(); !doubt.empty())
      core_.log.warn("rpc", "token file", {{"client", name}, {"what", doubt}});
  }
}

void Rpc::warn_of_tokens(const ServerSettings& s) {
  for (const auto& token : s.tokens) {
    if (token.role != "agent" || !davit::rpc::names_region(token.regions, "*")) continue;
    core_.log.warn("rpc",
                   "a token is for every region: whoever has it can speak for any, and invent "
                   "them; name the regions",
                   {{"server", s.name}, {"token", token.name}});
  }
}

std::function<void()> Rpc::prepare_reload(const Config& config, Faults& faults,
                                          std::vector<std::string>& live) {
  const RpcSettings settings = RpcSettings::read(config, faults);
  if (!faults.empty()) return {};
  std::vector<OtherTokens> others;
  for (size_t i = 0; i < servers_.size(); ++i) {
    ServerSettings& now = server_settings_[i];
    const auto next = std::find_if(settings.servers.begin(), settings.servers.end(),
                                   [&](const ServerSettings& s) { return s.name == now.name; });
    if (now.on_unix_socket() || next == settings.servers.end() || next->on_unix_socket()) continue;
    if (next->role_without_token != now.role_without_token) continue;  // takes a restart
    const std::string key = "rpc.server." + now.name + ".token";
    live.push_back(key);
    if (next->tokens == now.tokens) continue;
    for (const auto& token : next->tokens) {
      if (auto r = check_role(*next, token); !r.ok())
        faults.add(token.where, "", r.error().message);
    }
    if (!faults.empty()) continue;
    auto take = servers_[i]->prepare_tokens(next->tokens);
    if (take.ok()) {
      others.push_back({&now, next->tokens, std::move(*take)});
    } else {
      faults.add(next->where, key, take.error().message);
    }
  }
  return [this, others = std::move(others)] { take(others); };
}

void Rpc::take(const std::vector<OtherTokens>& others) {
  for (const OtherTokens& other : others) {
    other.take();
    {
      const std::lock_guard lock(tokens_mutex_);
      other.of->tokens = other.settings;
    }
    core_.log.info("rpc", "reloaded",
                   {{"key", "rpc.server." + other.of->name + ".token"},
                    {"tokens", std::to_string(other.settings.size())}});
    warn_of_tokens(*other.of);
  }
}

Result<> Rpc::listen() {
  warn_of_what_is_open();
  for (const auto& server : servers_) {
    if (auto r = server->listen(); !r.ok()) return r;
  }
  constexpr std::chrono::seconds interval{1};
  if (!servers_.empty()) {
    look_after_ = std::make_unique<Ticker>(Host(&self_.abi).strand(), interval, [this] {
      for (const auto& server : servers_) server->look_after();
    });
  }
  if (servers_.empty() && client_certificates_.empty()) return {};
  const std::lock_guard lock(read_files_mutex_);
  read_files_ = std::make_shared<FileReader>(interval, [this] {
    for (const auto& server : servers_) server->read_files();
    look_at_certificates();
  });
  return {};
}

std::string Rpc::address(std::string_view name) const {
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (server_settings_[i].name == name) return servers_[i]->address();
  }
  return {};
}

void Rpc::drain() {
  core_.health.set(self_.name, DAVIT_HEALTH_NOT_SERVING, "shutting down");
  for (const auto& server : servers_) server->drain();
}

void Rpc::stop(std::chrono::steady_clock::time_point deadline) {
  drain();
  look_after_.reset();
  std::shared_ptr<FileReader> files;
  {
    const std::lock_guard lock(read_files_mutex_);
    files.swap(read_files_);
  }
  files.reset();  // answers the calls that wait for it
  for (const auto& server : servers_) server->stop(deadline);
  for (const auto& [name, client] : clients_) {
    if (!client->stop(deadline)) core_.log.error("rpc", "calls did not end", {{"client", name}});
  }
}

}  // namespace davit::host
