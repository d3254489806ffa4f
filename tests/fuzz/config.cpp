// A configuration file: parsed, read to its last key as the host and its plugins read it, and the
// rest refused.
#include "config/config.hpp"

#include "choice.hpp"
#include "require.hpp"

namespace {

using namespace davit::host;

void read_tokens(const Table& server) {
  for (const Table& token : server.tables("token")) {
    token.string("name");
    token.path("file", true);
    token.string("role", "agent");
    token.strings("regions");
  }
}

void read_rpc(const Config& config, Faults& faults) {
  const Table rpc = config.table("rpc", faults);
  for (const Table& server : rpc.table("server").named()) {
    server.string("listen");
    for (const char* key : {"tls_certificate_file", "tls_key_file", "tls_client_ca_file"})
      server.path(key, false);
    read_tokens(server);
  }
  for (const Table& client : rpc.table("client").named()) {
    for (const char* key : {"url", "region", "agent"}) client.string(key, "");
    client.path("token_file", false);
    client.paths("ca_files");
    client.word("protocol", {"davit.v1", "ctrl.v1"}, "davit.v1");
  }
}

// An instance's table, whatever it holds.
void read_plugin(const Node& node, Faults& faults) {
  const Table table(&node, node.key, &faults);
  table.string("module");
  table.table("nested").boolean("enabled", false);
  for (const char* key : {"workers", "poll_interval_ms", "name"}) {
    if (!table.has(key)) continue;
    table.integer(key, 1, 0, 1000);
    table.milliseconds(key, std::chrono::milliseconds(1));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Faults faults;
  const Config config = Config::parse(davit::fuzz::whole(data, size), "fuzz.toml", faults);
  const Table host = config.table("host", faults);
  host.word("log_level", {"debug", "info", "warn", "error"}, "info");
  host.integer("worker_threads", 2, 1, 256);
  host.milliseconds("stop_timeout_ms", std::chrono::milliseconds(1000));
  host.path("state_dir", false);
  read_rpc(config, faults);
  for (const Node* plugin : config.plugins(faults)) read_plugin(*plugin, faults);
  config.reject_unread(faults);
  for (const std::string& line : faults.lines()) {
    davit::fuzz::require(line.find('\n') == std::string::npos, "a fault is one line", line);
  }
  return 0;
}
