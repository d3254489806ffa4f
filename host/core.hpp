// The parts of the host that its other parts use: services, transports and extensions.
#pragma once

namespace davit::host {

class Health;
class Log;
class Metrics;
class Runtime;
class Shutdown;

// They outlive whoever gets them. [any]
struct Core {
  Log& log;            // services/log.hpp
  Runtime& runtime;    // runtime/runtime.hpp: strands, timers, pools
  Metrics& metrics;    // services/metrics.hpp
  Health& health;      // services/health.hpp
  Shutdown& shutdown;  // services/shutdown.hpp
};

}  // namespace davit::host
