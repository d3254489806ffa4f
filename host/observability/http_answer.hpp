// Builds the metrics endpoint's answer to an HTTP request. It reads metrics and health, and is pure
// otherwise.
//
//   GET /metrics   Prometheus text
//   GET /healthz   200 while the process runs: for a liveness probe
//   GET /readyz    200 if every plugin is serving or degraded, otherwise 503; the body names the
//                  worst plugin and its reason
#pragma once

#include <string>
#include <string_view>

namespace davit::host {

class Health;
class Metrics;

// `head` is the request line with the headers. The answer is complete, and announces that the
// connection closes.
std::string http_answer(std::string_view head, const Metrics& metrics, const Health& health);

}  // namespace davit::host
