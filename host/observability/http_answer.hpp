// What the metrics endpoint answers to the head of an HTTP request. Pure but for reading metrics
// and health.
//
//   GET /metrics   Prometheus text
//   GET /healthz   200 while the process runs: for a liveness probe
//   GET /readyz    200 when every plugin serves (degraded ones, too), otherwise 503 and who does
//   not, and why
#pragma once

#include <string>
#include <string_view>

namespace davit::host {

class Health;
class Metrics;

// `head`: the request line and what follows it. The answer is whole, and says that the connection
// closes.
std::string http_answer(std::string_view head, const Metrics& metrics, const Health& health);

}  // namespace davit::host
