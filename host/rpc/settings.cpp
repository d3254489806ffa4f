#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "config/config.hpp"
#include "file_look.hpp"
#include "services/host_and_port.hpp"

namespace davit::host {

namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

// Whether the text may be sent in a header.
bool printable(const std::string& s) {
  for (const char c : s) {
    if (c < 0x21 || c > 0x7e) return false;
  }
  return true;
}

// A role is a word that methods ask for. Plugins bring their own.
bool is_word(const std::string& s) {
  constexpr size_t longest = 64;
  return !s.empty() && s.size() <= longest && s.front() >= 'a' && s.front() <= 'z' &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

void check_regions(const Table& t, const TokenSettings& token) {
  if (const std::string fault = regions_fault(token.role, token.regions); !fault.empty())
    t.reject("regions", fault);
}

void read_tokens(const Table& table, ServerSettings& s) {
  std::set<std::string> names;
  for (const Table& t : table.tables("token")) {
    TokenSettings token;
    token.name = t.string("name");
    token.file = t.path("file", true);
    token.role = t.string("role", "agent");
    if (const std::string fault = role_fault(token.role); !fault.empty()) t.reject("role", fault);
    token.where = t.where("role");
    token.key = t.key() + ".role";
    token.regions = t.strings("regions");
    check_regions(t, token);
    if (!names.insert(token.name).second)
      t.reject("name", "is used by another token of this server");
    s.tokens.push_back(std::move(token));
  }
}

// Whoever reaches such a listener may call the methods of its role, so it is none of Davit's own.
std::string read_role_without_token(const Table& table, const ServerSettings& s) {
  constexpr const char* key = "role_without_token";
  if (!table.has(key)) return {};
  std::string role = table.string(key);
  if (!is_word(role)) {
    table.reject(key, "must be a lower_snake_case word that a plugin's methods ask for");
  } else if (role == "agent" || role == "operator") {
    table.reject(key, "the role \"" + role + "\" takes a token: [[" + table.key() + ".token]]");
  } else if (!s.tokens.empty() || !s.agent_tokens_dir.empty()) {
    table.reject(key,
                 "every caller of this server has the role, so no token is asked for: leave "
                 "out [[" +
                     table.key() +
                     ".token]] and agent_tokens_dir, or give tokens a server of their own");
  }
  return role;
}

// What agents dial, where a load balancer or another name stands in front.
void read_public_url(const Table& table, ServerSettings& s) {
  s.public_url = table.string("public_url", "");
  if (s.public_url.empty()) return;
  ClientSettings client;
  client.url = s.public_url;
  const bool web = s.public_url.rfind("http://", 0) == 0 || s.public_url.rfind("https://", 0) == 0;
  if (!web || client.target().empty())
    table.reject("public_url", "must be http(s)://host or http(s)://host:port, no more");
}

void read_tcp(const Table& table, ServerSettings& s) {
  if (!s.listen.empty() && !host_and_port(s.listen))
    table.reject("listen", "must be \"host:port\" or \"unix:/path\"");
  s.certificate_file = table.path("tls_certificate_file", false);
  s.key_file = table.path("tls_key_file", false);
  s.client_ca_file = table.path("tls_client_ca_file", false);
  if (s.certificate_file.empty() != s.key_file.empty()) {
    table.reject(s.key_file.empty() ? "tls_certificate_file" : "tls_key_file",
                 "tls_certificate_file and tls_key_file go together");
  }
  if (!s.client_ca_file.empty() && s.certificate_file.empty()) {
    table.reject("tls_client_ca_file", "needs tls_certificate_file and tls_key_file");
  }
  read_tokens(table, s);
  s.agent_tokens_dir = table.path("agent_tokens_dir", false);
  read_public_url(table, s);
  s.role_without_token = read_role_without_token(table, s);
  s.role_where = table.where("role_without_token");
  if (s.tokens.empty() && s.agent_tokens_dir.empty() && !table.has("role_without_token")) {
    table.reject("token", "a TCP listener needs at least one [[" + table.key() +
                              ".token]], or agent_tokens_dir");
  }
}

void read_unix(const Table& table, ServerSettings& s) {
  constexpr size_t path_max = 107;  // sockaddr_un has no room for more
  const std::string path = s.unix_path();
  if (path.empty() || path.front() != '/')
    table.reject("listen", "a Unix socket needs an absolute path");
  if (path.size() > path_max) {
    table.reject("listen", "the path has more than " + std::to_string(path_max) + " characters");
  }
  s.allow_users = table.strings("allow_users");
  s.allow_group = table.string("allow_group", "");
}

// Limits of what callers may use. Ten thousand agents have one connection each, for a while two
// when they reconnect, and some ten calls. All of them may have the same address.
void read_limits(const Table& table, ServerSettings& s) {
  constexpr int64_t agents = 20'000, operators = 400, calls = 200'000, most = 10'000'000;
  s.connections_max =
      table.integer("connections_max", s.on_unix_socket() ? operators : agents, 1, most);
  s.connections_per_address_max =
      table.integer("connections_per_address_max", (s.connections_max + 1) / 2, 1, most);
  s.streams_max = table.integer("streams_max", s.streams_max, 1, 1'000'000);
  s.calls_max = table.integer("calls_max", calls, 1, most);
  s.calls_per_address_max = table.integer("calls_per_address_max", (s.calls_max + 1) / 2, 1, most);
  s.header_bytes_max = table.integer("header_bytes_max", s.header_bytes_max, 1'024, 1 << 20);
  s.health_watches_max = table.integer("health_watches_max", s.health_watches_max, 0, most);
  s.health_watches_per_address_max =
      table.integer("health_watches_per_address_max", s.health_watches_per_address_max, 0, most);
  s.idle_timeout = table.milliseconds("idle_timeout_ms", s.idle_timeout, 1'000);
}

ServerSettings read_server(const Table& table) {
  ServerSettings s;
  s.name = table.name();
  s.where = table.where();
  s.listen = table.string("listen");
  s.listen_where = table.where("listen");
  if (s.on_unix_socket()) {
    read_unix(table, s);
  } else {
    read_tcp(table, s);
  }
  s.transport = table.word("transport", {"grpc", "connect"}, "connect");
  s.gzip = table.boolean("gzip", s.gzip);
  if (s.gzip && s.transport != "connect") table.reject("gzip", "needs transport = \"connect\"");
  s.keepalive_interval = table.milliseconds("keepalive_interval_ms", s.keepalive_interval, 1'000);
  s.keepalive_timeout = table.milliseconds("keepalive_timeout_ms", s.keepalive_timeout, 100);
  s.request_timeout = table.milliseconds("request_timeout_ms", s.request_timeout, 100);
  s.retry_after = table.milliseconds("retry_after_ms", s.retry_after, 0);
  s.reflection = table.boolean("reflection", s.reflection);
  read_limits(table, s);
  // Room for ten thousand agents that report 25 KiB each at once.
  s.requests_bytes_max =
      table.integer("requests_bytes_max", s.requests_bytes_max, 64 << 10, int64_t{1} << 40);
  if (table.has("requests_bytes_max") && s.transport != "connect")
    table.reject("requests_bytes_max", "needs transport = \"connect\"");
  s.memory_bytes_max = table.integer("memory_bytes_max", s.memory_bytes_max, 0, int64_t{1} << 40);
  if (s.memory_bytes_max > 0 && s.transport == "connect")
    table.reject("memory_bytes_max", "needs transport = \"grpc\"");
  return s;
}

void read_credentials(const Table& table, ClientSettings& c) {
  const bool local = c.url.rfind("unix:", 0) == 0;
  const bool known = local || c.url.rfind("http://", 0) == 0 || c.tls();
  if (!known && !c.url.empty()) table.reject("url", "must start with http://, https:// or unix:/");
  if (known && c.target().empty())
    table.reject("url", "must be http(s)://host or http(s)://host:port, no more");
  c.token_file = table.path("token_file", known && !local);
  c.ca_file = table.path("ca_file", false);
  c.certificate_file = table.path("certificate_file", false);
  c.key_file = table.path("key_file", false);
  if (c.certificate_file.empty() != c.key_file.empty()) {
    table.reject(c.key_file.empty() ? "certificate_file" : "key_file",
                 "certificate_file and key_file go together");
  }
  for (const char* key : {"ca_file", "certificate_file"}) {
    if (known && table.has(key) && !c.tls()) table.reject(key, "needs an https:// url");
  }
}

ClientSettings read_client(const Table& table) {
  ClientSettings c;
  c.name = table.name();
  c.where = table.where("token_file");
  c.url = table.string("url");
  read_credentials(table, c);
  c.region = table.string("region");
  c.platform = table.string("platform", "");
  c.agent = table.string("agent", host_name());
  for (const auto& [key, value] :
       {std::pair{"region", &c.region}, {"platform", &c.platform}, {"agent", &c.agent}}) {
    if (!printable(*value)) table.reject(key, "must be printable ASCII without spaces");
  }
  c.protocol = table.word("protocol", {"davit.v1", "ctrl.v1"}, c.protocol);
  const bool local = c.url.rfind("unix:", 0) == 0;
  // The control plane that speaks ctrl.v1 serves Connect.
  const char* usual = c.protocol == "ctrl.v1" && !local ? "connect" : "grpc";
  c.transport = table.word("transport", {"grpc", "connect"}, usual);
  if (c.transport == "connect" && local) table.reject("transport", "a Unix socket speaks grpc");
  c.keepalive_interval = table.milliseconds("keepalive_interval_ms", c.keepalive_interval, 1'000);
  c.keepalive_timeout = table.milliseconds("keepalive_timeout_ms", c.keepalive_timeout, 100);
  c.reconnect_backoff_max =
      table.milliseconds("reconnect_backoff_max_ms", c.reconnect_backoff_max, 100);
  c.response_bytes_max =
      table.integer("response_bytes_max", c.response_bytes_max, 1'024, int64_t{1} << 30);
  return c;
}

}  // namespace

// The name is used in headers, metrics, file names and object labels.
std::string region_fault(const std::string& region) {
  constexpr size_t longest = 63;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (region.empty()) return "a region's name is empty";
  if (region.size() > longest) {
    return "\"" + region.substr(0, longest) + "...\" is no region: a name has at most " +
           std::to_string(longest) + " characters";
  }
  if (region.find('*') != std::string::npos) {
    return "\"" + region +
           "\" is no region: there are no patterns, only names and \"*\" alone for every region";
  }
  if (std::all_of(region.begin(), region.end(), fits)) return {};
  return "\"" + region + "\" is no region: a name has letters, digits, \"-\", \"_\" and \".\"";
}

std::string role_fault(const std::string& role) {
  if (is_word(role)) return {};
  return "must be a lower_snake_case word, such as \"agent\" or \"operator\"";
}

std::string regions_fault(const std::string& role, const std::vector<std::string>& regions) {
  const bool every = std::find(regions.begin(), regions.end(), "*") != regions.end();
  if (role == "operator") {
    if (regions.empty() || (every && regions.size() == 1)) return {};
    return "an operator's token is for every region: leave it out, or say [\"*\"]";
  }
  if (regions.empty() && role == "agent")
    return "an agent's token must name at least one region (\"*\": every region)";
  if (every && regions.size() > 1) return "\"*\" is every region: name it alone";
  for (const auto& region : regions) {
    const std::string fault = region == "*" ? std::string() : region_fault(region);
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string ClientSettings::target() const {
  if (url.rfind("unix:", 0) == 0) return url;
  std::string rest = url.substr(url.find("://") + 3);
  if (!rest.empty() && rest.back() == '/') rest.pop_back();
  if (rest.empty() || rest.find_first_of("/?#@ ") != std::string::npos) return {};
  if (host_and_port(rest)) return rest;
  const std::string with_port = rest + (tls() ? ":443" : ":80");
  return host_and_port(with_port) ? with_port : std::string();
}

RpcSettings RpcSettings::read(const Config& config, Faults& faults) {
  const Table rpc = config.table("rpc", faults);
  RpcSettings out;
  for (const Table& table : rpc.table("server").named()) out.servers.push_back(read_server(table));
  for (const Table& table : rpc.table("client").named()) out.clients.push_back(read_client(table));
  return out;
}

std::string RpcSettings::unwritten_token() const {
  for (const ServerSettings& server : servers) {
    for (const TokenSettings& token : server.tokens) {
      if (FileLook::of(token.file)) continue;
      return token.where + ": rpc.server." + server.name + ": token \"" + token.name +
             "\": " + token.file;
    }
  }
  for (const ClientSettings& client : clients) {
    if (client.token_file.empty() || FileLook::of(client.token_file)) continue;
    return client.where + ": rpc.client." + client.name + ".token_file: " + client.token_file;
  }
  return {};
}

}  // namespace davit::host
