// The settings that every plugin has that asks a server by HTTP. README.md describes them.
#pragma once

#include <davit/settings.hpp>

#include "client.hpp"

namespace davit::http {

struct Target {
  Url url;
  Options options;
};
// Reads url, ca_file, certificate_file, key_file, tls_server_name, proxy, http2,
// connect_timeout_ms, request_timeout_ms and response_bytes_max, and rejects what is wrong. `usual`
// has the defaults. Only in a plugin's constructor.
Target read_target(const Settings& settings, const Options& usual);

// Says what is wrong with where the target is, though it works: without TLS everybody on the way
// reads token and secrets. Empty: nothing.
std::string doubt(const Url& url);

}  // namespace davit::http
