#include "instance_host.hpp"
#include "metrics.hpp"
#include "tables.hpp"

namespace davit::host {

const davit_metrics& metrics_service() {
  static const davit_metrics table = {
      sizeof(davit_metrics),
      [](const davit_host* h, int32_t type, davit_str name, davit_str help,
         const davit_pair* labels, size_t count) noexcept {
        return instance(h).core->metrics.metric(type, view(name), view(help), labels, count);
      },
      &Metrics::add, &Metrics::set, &Metrics::observe};
  return table;
}

}  // namespace davit::host
