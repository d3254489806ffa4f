// [host].metrics_listen = "127.0.0.1:9100": metrics and health over HTTP, for Prometheus and for
// probes. Off when the key is absent. Plain text without credentials: bind it where only those can
// reach it who may read it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assembly/extension.hpp"

namespace davit::host {

std::unique_ptr<Extension> make_endpoint(const Core& core);

// "127.0.0.1:9100", "[::1]:9100", "localhost:9100".
struct HostPort {
  std::string host;
  uint16_t port = 0;
};
Result<HostPort> parse_listen(std::string_view text);

}  // namespace davit::host
