#include "host_settings.hpp"

#include <cstdlib>

#include "config/config.hpp"

namespace davit::host {
namespace {

// The directory of systemd's StateDirectory=, otherwise the one of this installation.
std::string default_state_dir() {
  const char* given = std::getenv("STATE_DIRECTORY");
  if (given == nullptr || *given == '\0') return DAVIT_STATE_DIR;
  const std::string all(given);
  return all.substr(0, all.find(':'));  // systemd separates several directories with colons
}

}  // namespace

HostSettings read_host_settings(const Config& config, Faults& faults) {
  const Table host = config.table("host", faults);
  HostSettings out;
  const std::string level = host.word("log_level", {"debug", "info", "warn", "error"}, "info");
  if (level == "debug") out.log_level = DAVIT_LOG_DEBUG;
  if (level == "warn") out.log_level = DAVIT_LOG_WARN;
  if (level == "error") out.log_level = DAVIT_LOG_ERROR;
  const std::string format = host.word("log_format", {"auto", "text", "json"}, "auto");
  if (format == "text") out.log_format = Log::Format::text;
  if (format == "json") out.log_format = Log::Format::json;
  out.worker_threads = static_cast<unsigned>(host.integer("worker_threads", 0, 0, 1024));
  out.core_dumps = host.boolean("core_dumps", out.core_dumps);
  out.stop_delay = host.milliseconds("stop_delay_ms", out.stop_delay, 0);
  out.stop_timeout = host.milliseconds("stop_timeout_ms", out.stop_timeout, 100);
  out.stall_warning = host.milliseconds("stall_warning_ms", out.stall_warning, 100);
  out.commit_timeout = host.milliseconds("commit_timeout_ms", out.commit_timeout, 100);
  out.state_dir = host.path("state_dir", false);
  if (out.state_dir.empty()) out.state_dir = default_state_dir();
  out.plugin_dirs = host.paths("plugin_dirs");
  return out;
}

}  // namespace davit::host
