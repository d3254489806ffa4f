#include "call_metrics.hpp"

#include "connect/code.hpp"
#include "services/metrics.hpp"

namespace davit::host {

CallMetrics::CallMetrics(Metrics& metrics, std::string server, const MethodRegistry& methods)
    : metrics_(metrics), server_(std::move(server)) {
  methods_[nullptr].method = "other";
  for (const Method* m : methods.all()) {
    Series& series = methods_[m];
    series.method = m->path;
    series.open = metric(DAVIT_GAUGE, "davit_rpc_calls_open", "calls being served", series);
    if (m->streams_answers() || m->streams_requests()) continue;
    series.seconds = metric(DAVIT_HISTOGRAM, "davit_rpc_seconds",
                            "from a call of one answer until that answer", series);
  }
}

davit_metric* CallMetrics::metric(int32_t type, const char* name, const char* help,
                                  const Series& series, const char* code) {
  const davit_pair labels[] = {{str("server"), str(server_)},
                               {str("method"), str(series.method)},
                               {str("code"), str(code == nullptr ? "" : code)}};
  return metrics_.metric(type, name, help, labels, code == nullptr ? 2 : 3);
}

CallMetrics::Series& CallMetrics::of(const Method* method) {
  const auto found = methods_.find(method);
  return found != methods_.end() ? found->second : methods_.find(nullptr)->second;
}

void CallMetrics::begins(const Method* method) {
  if (auto* open = of(method).open) Metrics::add(open, 1);
}

void CallMetrics::is_gone(const Method* method) {
  if (auto* open = of(method).open) Metrics::add(open, -1);
}

void CallMetrics::ends(const Method* method, Code code, double seconds) {
  Series& series = of(method);
  if (series.seconds != nullptr) Metrics::observe(series.seconds, seconds);
  count(series, code);
}

// The metrics service returns the same metric for the same name and labels. So two threads that
// register a code at the same time use one metric.
void CallMetrics::count(Series& series, Code code) {
  const auto number = static_cast<uint32_t>(code);
  auto& ended = series.ended[number < codes ? number : static_cast<uint32_t>(Code::unknown)];
  davit_metric* counter = ended.load(std::memory_order_acquire);
  if (counter == nullptr) {
    counter = metric(DAVIT_COUNTER, "davit_rpc_calls_total", "calls that have ended, by code",
                     series, std::string(code_name(code)).c_str());
    ended.store(counter, std::memory_order_release);
  }
  Metrics::add(counter, 1);
}

}  // namespace davit::host
