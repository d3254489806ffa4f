// Core: the parts of the host that its other parts are given. This folder's own headers (core.hpp,
// extension.hpp, text_table.hpp) belong to no layer: every part of the host may include them.
#pragma once

namespace davit::host {

class Health;
class Log;
class Metrics;
class Runtime;
class Shutdown;

// They outlive whoever is given them.
struct Core {
  Log& log;            // services/log.hpp
  Runtime& runtime;    // runtime/runtime.hpp: strands, timers, pools
  Metrics& metrics;    // services/metrics.hpp
  Health& health;      // services/health.hpp
  Shutdown& shutdown;  // services/shutdown.hpp
};

}  // namespace davit::host
