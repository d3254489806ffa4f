// What an Application is made of.
#pragma once

#include <memory>
#include <vector>

#include "application.hpp"
#include "assembly.hpp"
#include "config/config.hpp"
#include "extension.hpp"
#include "host_settings.hpp"
#include "life.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "services/shutdown.hpp"

namespace davit::host {

// In the order of creation. They are destroyed in reverse, so plugins go before the parts they use.
struct Application::Parts {
  Parts(Config config, const HostSettings& settings, Life& life);

  Config config;
  HostSettings settings;
  Log& log;
  PassedSockets& passed;
  Metrics metrics;
  Health health;
  Shutdown shutdown;
  Runtime runtime;
  Core core{log, runtime, metrics, health, shutdown, &passed};
  Services services;
  std::vector<std::unique_ptr<Extension>> extensions;
  Loader loader;
  std::unique_ptr<Assembly> assembly;
};

}  // namespace davit::host
