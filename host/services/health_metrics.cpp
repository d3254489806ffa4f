#include "health_metrics.hpp"

#include <davit/types.hpp>

#include "health.hpp"
#include "metrics.hpp"

namespace davit::host {

void show_health(Metrics& metrics, const Health& health) {
  metrics.before_each_look([&metrics, &health] {
    for (const auto& entry : health.all()) {
      const davit_pair plugin{str("plugin"), str(entry.instance)};
      Metrics::set(metrics.metric(DAVIT_GAUGE, "davit_health",
                                  "health of a plugin: 0 serving, 1 degraded, 2 starting, 3 not "
                                  "serving",
                                  &plugin, 1),
                   Health::badness(entry.health));
    }
  });
}

}  // namespace davit::host
