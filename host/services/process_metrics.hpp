// What the process takes of its machine, by the names that Prometheus' clients have agreed on:
// processor time, memory, descriptors, and since when it runs.
#pragma once

namespace davit::host {

class Metrics;

// They are read from the kernel each time the metrics are asked for. What cannot be read (no /proc)
// is not shown.
void show_process(Metrics&);

}  // namespace davit::host
