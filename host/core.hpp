// The parts of the host that its other parts use: services, transports and extensions.
#pragma once

namespace davit::host {

class Health;
class Log;
class Metrics;
class PassedSockets;
class Runtime;
class Shutdown;

// They outlive whoever gets them. [any]
struct Core {
  Log& log;            // services/log.hpp
  Runtime& runtime;    // runtime/runtime.hpp: strands, timers, pools
  Metrics& metrics;    // services/metrics.hpp
  Health& health;      // services/health.hpp
  Shutdown& shutdown;  // services/shutdown.hpp
  // services/passed_sockets.hpp; NULL: there are none. Only on the main thread.
  PassedSockets* passed = nullptr;
};

}  // namespace davit::host
