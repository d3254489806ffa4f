// The settings of the host itself: table [host]. All keys are optional.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "services/commit_queue.hpp"
#include "services/log.hpp"

namespace davit::host {

class Config;
class Faults;

struct HostSettings {
  int32_t log_level = DAVIT_LOG_INFO;
  Log::Format log_format = Log::Format::automatic;
  unsigned worker_threads = 0;  // 0: one per core, at least 2
  bool core_dumps = false;
  std::chrono::milliseconds stop_delay{0};
  std::chrono::milliseconds stop_timeout{10'000};
  std::chrono::milliseconds stall_warning{10'000};
  std::chrono::milliseconds commit_timeout = default_commit_timeout;
  std::string state_dir;                 // absolute
  std::vector<std::string> plugin_dirs;  // searched before the installation's own folder
};

HostSettings read_host_settings(const Config& config, Faults& faults);

}  // namespace davit::host
