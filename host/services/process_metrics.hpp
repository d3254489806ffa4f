// Metrics of the process, under the names that all Prometheus clients use: processor time, memory,
// descriptors and the time of the start.
#pragma once

namespace davit::host {

class Metrics;

// Registers the metrics. Except for the time of the start, they are read from the kernel each time
// that metrics are requested. A value that cannot be read (no /proc) is not shown.
void show_process(Metrics&);

}  // namespace davit::host
