// The part of Application that reads the configuration again, at SIGHUP.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

#include "application_parts.hpp"
#include "config/difference.hpp"
#include "config/node.hpp"
#include "notify.hpp"

namespace davit::host {
namespace {

// Plugins read their settings at the next start. Every other key must be known now.
void reject_unread_but_of_plugins(const Config& config, Faults& faults) {
  for (const Node* plugin : config.plugins(faults)) plugin->closed = true;
  config.reject_unread(faults);
}

}  // namespace

// systemd gives credentials to the process that it started, and not to the command of ExecReload=
// that checks the files before SIGHUP. A folder that is not there stands for them: the settings
// that name some can be read, and the credentials cannot.
void Application::find_credentials() {
  constexpr const char* variable = "CREDENTIALS_DIRECTORY";
  const char* given = std::getenv(variable);
  if (given != nullptr && ::access(given, R_OK | X_OK) == 0) return;
  if (given == nullptr || *given == '\0') ::setenv(variable, "/run/credentials/out-of-reach", 1);
  out_of_reach_ = std::string(std::getenv(variable)) + "/";
}

void Application::leave_to_the_running_one(Faults& faults) {
  if (out_of_reach_.empty() || faults.remove(out_of_reach_) == 0) return;
  if (!std::exchange(is_left_to_the_running_one_, true)) {
    std::fputs(
        "credentials are checked by the running davit, which alone has them, when it reads the "
        "files again\n",
        stderr);
  }
}

// The service manager hears when a reload begins and ends (Type=notify, and notify-reload).
void Application::reload() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  notify("RELOADING=1\nMONOTONIC_USEC=" +
         std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  const std::string fault = take_new_configuration();
  notify("READY=1\nSTATUS=" + (fault.empty() ? running_status() : "not reloaded: " + fault));
}

std::string Application::running_status() const {
  return "runs with " + std::to_string(parts_->assembly->graph().size()) + " plugins";
}

// The log settings and the tokens change at once. Secrets and certificates are read again when
// their files change. Every other key takes a restart. All keys are read and checked before any of
// them takes effect: a single fault changes nothing.
std::string Application::take_new_configuration() {
  Parts& p = *parts_;
  Faults faults;
  const Config config = Config::load(files_, faults);
  const HostSettings settings = read_host_settings(config, faults);
  std::vector<std::string> live = {"host.log_level", "host.log_format"};
  std::vector<std::function<void()>> changes;
  for (auto& extension : p.extensions) {
    changes.push_back(extension->prepare_reload(config, faults, live));
  }
  if (faults.empty()) reject_unread_but_of_plugins(config, faults);
  for (const std::string& line : faults.lines())
    p.log.error("host", "not reloaded: the configuration has a fault", {{"fault", line}});
  if (!faults.empty()) return faults.lines().front();
  for (const auto& change : changes) {
    if (change) change();
  }
  changes.clear();
  if (settings.log_level != p.settings.log_level || settings.log_format != p.settings.log_format) {
    p.log.set(settings.log_level, settings.log_format);
    p.settings.log_level = settings.log_level;
    p.settings.log_format = settings.log_format;
    p.log.info("host", "reloaded", {{"key", "host.log_level, host.log_format"}});
  }
  size_t waiting = 0;
  for (const Difference& d : differences(p.config.root(), config.root())) {
    if (std::find(live.begin(), live.end(), d.key) != live.end()) continue;
    ++waiting;
    p.log.warn("host", "changed; takes a restart", {{"key", d.key}, {"where", d.where}});
  }
  p.log.info("host", "configuration read again",
             {{"changes_that_take_a_restart", std::to_string(waiting)}});
  return {};
}

}  // namespace davit::host
