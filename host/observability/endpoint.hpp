// The HTTP endpoint for Prometheus and for probes: [host].metrics_listen = "127.0.0.1:9100". It
// shows metrics and health, and is off when the key is absent. It has neither encryption nor
// credentials, so bind it to an address that only trusted clients can reach.
#pragma once

#include <memory>

#include "extension.hpp"

namespace davit::host {

std::unique_ptr<Extension> make_endpoint(const Core& core);

}  // namespace davit::host
