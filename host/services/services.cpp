#include "services.hpp"

#include "tables.hpp"

namespace davit::host {

const void* Services::find(std::string_view id) const {
  if (auto it = tables_.find(id); it != tables_.end()) return it->second;
  for (const Lookup& look_up : lookups_) {
    if (const void* table = look_up(id)) return table;
  }
  return nullptr;
}

void add_host_services(Services& services) {
  services.add(DAVIT_LOG, &log_service());
  services.add(DAVIT_CONFIG, &config_service());
  services.add(DAVIT_METRICS, &metrics_service());
  services.add(DAVIT_EXEC, &exec_service());
  services.add(DAVIT_CLOCK, &clock_service());
  services.add(DAVIT_LOOKUP, &lookup_service());
  services.add(DAVIT_CREDENTIALS, &credentials_service());
  services.add(DAVIT_STATE, &state_service());
  services.add(DAVIT_HEALTH, &health_service());
  services.add(DAVIT_SHUTDOWN, &shutdown_service());
  services.add(DAVIT_COMMIT, &commit_service());
}

}  // namespace davit::host
