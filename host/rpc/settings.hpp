// What [rpc.server.NAME] and [rpc.client.NAME] say. Read once, before any plugin is made.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace davit::host {

class Config;
class Faults;

struct TokenSettings {
  std::string name;  // for logs and audit
  std::string file;
  std::string role;  // "agent" or "operator"
  std::vector<std::string> regions;
  bool operator==(const TokenSettings&) const = default;
};

struct ServerSettings {
  std::string name;
  std::string where;         // of its table: "server.toml:10"
  std::string listen;        // "0.0.0.0:7070", "[::1]:0" or "unix:/run/davit/operator.sock"
  std::string listen_where;  // "server.toml:12"
  std::string transport;     // "grpc" or "connect"
  bool gzip = false;         // "connect": answers are compressed for callers that take it
  std::string certificate_file, key_file, client_ca_file;
  std::vector<TokenSettings> tokens;  // TCP
  std::vector<std::string>
      allow_users;  // Unix socket: names or numbers, beside root and the host's own user
  std::string allow_group;
  std::chrono::milliseconds keepalive_interval{30'000}, keepalive_timeout{10'000};
  std::chrono::milliseconds request_timeout{10'000};  // for a connection, and for a call's request
  std::chrono::milliseconds retry_after{1'000};       // the hint of a server that goes down
  bool reflection = false;                            // who may call may ask what there is
  // Of callers that use nothing: until their connection is closed.
  std::chrono::milliseconds idle_timeout{120'000};
  int64_t connections_max = 0, connections_per_address_max = 0;
  int64_t streams_max = 1'000;  // a connection
  int64_t calls_max = 0, calls_per_address_max = 0;
  int64_t header_bytes_max = 8'192;  // a call
  // Streams of callers without a token.
  int64_t health_watches_max = 1'000, health_watches_per_address_max = 100;
  // "connect": of all requests that are being received.
  int64_t requests_bytes_max = 256 << 20;
  int64_t memory_bytes_max = 0;  // of all connections of this server; 0: no limit
  unsigned threads = 1;          // "connect", TCP: that connections live on

  bool on_unix_socket() const { return listen.rfind("unix:", 0) == 0; }
  std::string unix_path() const { return listen.substr(5); }
  bool tls() const { return !certificate_file.empty(); }
};

struct ClientSettings {
  std::string name;
  std::string where;  // of its token_file: "agent.toml:20"
  std::string url;    // http://host:port, https://host:port or unix:/path
  std::string token_file, ca_file, certificate_file, key_file;
  std::string region, platform, agent;
  std::string protocol = "davit.v1";
  std::string transport;  // "grpc" or "connect"
  std::chrono::milliseconds keepalive_interval{10'000}, keepalive_timeout{5'000};
  std::chrono::milliseconds reconnect_backoff_max{5'000};
  int64_t response_bytes_max = 64 << 20;

  bool tls() const { return url.rfind("https://", 0) == 0; }
  // host:port of the url with the scheme's default port, or the unix: url as it is.
  std::string target() const;
};

struct RpcSettings {
  std::vector<ServerSettings> servers;
  std::vector<ClientSettings> clients;

  static RpcSettings read(const Config&, Faults&);
};

}  // namespace davit::host
