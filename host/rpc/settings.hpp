// The settings of [rpc.server.NAME] and [rpc.client.NAME]. Rpc reads them before any plugin is
// made. At SIGHUP it reads them again and applies the tokens of servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace davit::host {

class Config;
class Faults;

struct TokenSettings {
  std::string name;  // used in logs and errors
  std::string file;
  std::string role;  // "agent", "operator", or another word that methods ask for
  std::vector<std::string> regions;
  std::string where{}, key{};  // of the role: "server.toml:12", "rpc.server.main.token[0].role"
  bool in_folder = false;      // found in agent_tokens_dir
  bool operator==(const TokenSettings& o) const {  // a token that has moved in the file is the same
    return name == o.name && file == o.file && role == o.role && regions == o.regions &&
           in_folder == o.in_folder;
  }
};

struct ServerSettings {
  std::string name;
  std::string where;         // where its table is: "server.toml:10"
  std::string listen;        // "0.0.0.0:7070", "[::1]:0" or "unix:/run/davit/operator.sock"
  std::string listen_where;  // "server.toml:12"
  std::string transport;     // "grpc" or "connect"
  bool gzip = false;         // "connect": compress answers for callers that accept it
  std::string certificate_file, key_file, client_ca_file;
  std::vector<TokenSettings> tokens;  // TCP
  std::string agent_tokens_dir;       // TCP; empty: none. See AgentTokensFolder
  std::string public_url;             // TCP; how agents reach it, for who installs them; or empty
  // TCP, in place of tokens: every caller has this role. Empty: callers show a token.
  std::string role_without_token;
  std::string role_where;                // where it is set: "agent.toml:12"
  std::vector<std::string> allow_users;  // Unix socket: names or numbers besides root and own user
  std::string allow_group;
  std::chrono::milliseconds keepalive_interval{30'000}, keepalive_timeout{10'000};
  std::chrono::milliseconds request_timeout{10'000};  // for a connection, and for a call's request
  std::chrono::milliseconds retry_after{1'000};       // sent to callers when the server shuts down
  bool reflection = false;                            // callers may ask which methods are served
  // A connection without a call is closed after this time.
  std::chrono::milliseconds idle_timeout{120'000};
  int64_t connections_max = 0, connections_per_address_max = 0;
  int64_t streams_max = 1'000;  // per connection
  int64_t calls_max = 0, calls_per_address_max = 0;
  int64_t header_bytes_max = 8'192;  // per call
  // Health watches of callers without a token.
  int64_t health_watches_max = 1'000, health_watches_per_address_max = 100;
  // "connect": memory for all requests that are being received.
  int64_t requests_bytes_max = 256 << 20;
  int64_t memory_bytes_max = 0;  // "grpc": of all connections of this server; 0: no limit
  unsigned threads = 1;          // "connect", TCP: threads that serve connections

  bool on_unix_socket() const { return listen.rfind("unix:", 0) == 0; }
  std::string unix_path() const { return listen.substr(5); }
  bool tls() const { return !certificate_file.empty(); }
};

struct ClientSettings {
  std::string name;
  std::string where;  // where its token_file is set: "agent.toml:20"
  std::string url;    // http://host:port, https://host:port or unix:/path
  std::string token_file, ca_file, certificate_file, key_file;
  std::string region, platform, agent;
  std::string protocol = "davit.v1";
  std::string transport;  // "grpc" or "connect"
  std::chrono::milliseconds keepalive_interval{10'000}, keepalive_timeout{5'000};
  std::chrono::milliseconds reconnect_backoff_max{5'000};
  int64_t response_bytes_max = 64 << 20;

  bool tls() const { return url.rfind("https://", 0) == 0; }
  // "host:port" of the URL, with the scheme's default port. A unix: URL is returned unchanged.
  // Empty if the URL has anything else.
  std::string target() const;
};

// What is wrong with a region's name. Empty if nothing is.
std::string region_fault(const std::string& region);
// The same of a token's role, and of its regions with this role.
std::string role_fault(const std::string& role);
std::string regions_fault(const std::string& role, const std::vector<std::string>& regions);

struct RpcSettings {
  std::vector<ServerSettings> servers;
  std::vector<ClientSettings> clients;

  static RpcSettings read(const Config&, Faults&);
  // The first token whose file is not there: where its setting is, what it is, and the file. Empty:
  // all are there.
  std::string unwritten_token() const;
};

}  // namespace davit::host
