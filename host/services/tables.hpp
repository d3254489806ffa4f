// The tables of the host's own services, one per file of this folder. They are static and never
// change.
#pragma once

#include <davit/abi/services.h>
#include <davit/abi/storage.h>

namespace davit::host {

const davit_log& log_service();
const davit_config& config_service();
const davit_metrics& metrics_service();
const davit_exec& exec_service();
const davit_clock& clock_service();
const davit_lookup& lookup_service();
const davit_credentials& credentials_service();
const davit_state& state_service();
const davit_health& health_service();
const davit_shutdown& shutdown_service();
const davit_commit& commit_service();

}  // namespace davit::host
