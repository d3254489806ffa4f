// The health of each instance as a metric, so that an alert can ask for it.
#pragma once

namespace davit::host {

class Health;
class Metrics;

// Registers the gauge davit_health with the label plugin, which is read each time that metrics are
// requested: 0 serving, 1 degraded, 2 starting, 3 not serving. Both must outlive the last request.
void show_health(Metrics&, const Health&);

}  // namespace davit::host
