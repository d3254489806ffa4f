#include "application.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>

#include <davit/rights.hpp>
#include <davit/storage_copy.hpp>
#include <davit/storage_schema.hpp>

#include "application_parts.hpp"
#include "can_listen.hpp"
#include "config/node.hpp"
#include "life.hpp"
#include "notify.hpp"
#include "observability/endpoint.hpp"
#include "print_graph.hpp"
#include "private_process.hpp"
#include "sandbox.hpp"
#include "services/health_metrics.hpp"
#include "services/journal.hpp"
#include "services/process_metrics.hpp"
#include "text_table.hpp"
#include "unconfigured.hpp"

namespace davit::host {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::unique_ptr<Extension>> make_extensions(const Core& core) {
  std::vector<std::unique_ptr<Extension>> out;
  out.push_back(make_codec(core));
  out.push_back(make_rpc(core));
  out.push_back(make_endpoint(core));
  return out;
}

std::vector<std::string> plugin_directories(const HostSettings& settings) {
  std::vector<std::string> out = settings.plugin_dirs;
  out.push_back(Loader::default_directory());
  return out;
}

void print(const Faults& faults) {
  const std::string prefix = journal_prefix(DAVIT_LOG_ERROR);
  for (const std::string& line : faults.lines())
    std::fprintf(stderr, "%s%s\n", prefix.c_str(), line.c_str());
}

// Takes the address from "main 0.0.0.0:7070" or "metrics http://127.0.0.1:9100/metrics".
std::string address_of(const Described& listener) {
  constexpr std::string_view scheme = "http://";
  std::string out = listener.what.substr(listener.what.rfind(' ') + 1);
  if (!out.starts_with(scheme)) return out;
  out.erase(0, scheme.size());
  return out.substr(0, out.find('/'));
}

// glibc makes up to eight arenas per core, and each arena keeps the memory that is freed in it. Our
// many threads share a little work, so the arenas held much free memory: at 10,000 idle streams it
// was 1.5 of the 2.4 KiB that each stream costs above gRPC's own memory.
void share_arenas() {
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
}

// By itself glibc returns only memory at the end of a heap. After a bootstrap most free memory lies
// between blocks in use: a third of an agent's memory.
constexpr std::chrono::seconds memory_interval{30};
void give_memory_back() {
  ::malloc_trim(0);
}

}  // namespace

Application::Parts::Parts(Config c, const HostSettings& s, Life& life)
    : config(std::move(c)),
      settings(s),
      log(life.log),
      passed(life.passed),
      runtime(s.worker_threads),
      extensions(make_extensions(core)),
      loader(plugin_directories(s)) {
  log.set(s.log_level, s.log_format);
}

Application::Application(std::vector<std::string> files)
    : files_(std::move(files)), life_(std::make_unique<Life>()) {}

Application::~Application() {
  if (parts_ != nullptr) {
    parts_->runtime.shutdown(Clock::time_point::max());
    if (parts_->assembly) parts_->assembly->destroy();
    parts_->runtime.run_rest();
  }
  life_->signals.reset();
  life_->watchdog.reset();
  life_->made(nullptr);
}

int Application::refuse(const std::string& line) {
  std::fprintf(stderr, "%s%s\n", journal_prefix(DAVIT_LOG_ERROR).c_str(), line.c_str());
  return exit_refused;
}

bool Application::prepare(bool check) {
  keep_files_private();
  Faults faults;
  Config config = Config::load(files_, faults);
  if (!faults.empty()) return print(faults), false;
  HostSettings settings = read_host_settings(config, faults);
  if (is_quiet_) settings.log_level = DAVIT_LOG_ERROR;
  if (!settings.core_dumps) forbid_core_dumps();
  parts_ = std::make_unique<Parts>(std::move(config), settings, *life_);
  Parts& p = *parts_;
  life_->made(&p.shutdown);
  life_->watch_for_stalls(settings.stall_warning);
  {
    const std::lock_guard lock(life_->mutex);
    life_->stop_timeout = settings.stop_timeout;
    life_->stop_delay = settings.stop_delay;
  }
  add_host_services(p.services);
  const davit_pair version{str("version"), str(DAVIT_VERSION)};
  Metrics::set(
      p.metrics.metric(DAVIT_GAUGE, "davit_info", "which davit this is; always 1", &version, 1), 1);
  show_process(p.metrics);
  show_health(p.metrics, p.health);
  for (auto& extension : p.extensions) {
    p.services.add([&part = *extension](std::string_view id) { return part.service(id); });
    extension->configure(p.config, faults);
  }
  if (!check && faults.empty() && !is_written()) return false;
  p.assembly = std::make_unique<Assembly>(p.core, p.services, p.loader, p.settings.state_dir,
                                          p.settings.commit_timeout);
  p.assembly->create(p.config, faults);
  if (faults.empty() && p.config.plugins(faults).empty()) {
    faults.add(files_.front(), "",
               "names no plugin: write a table [plugin.NAME] with a \"module\"");
  }
  p.config.reject_unread(faults);
  if (faults.empty()) p.assembly->wire(faults);
  for (auto& extension : p.extensions) {
    if (!faults.empty()) break;
    const Result<> wired = extension->wired(check);
    if (!wired.ok()) faults.add("", "", wired.error().message);
  }
  leave_to_the_running_one(faults);
  print(faults);
  return faults.empty();
}

// A process that nobody has configured yet is told what to write before any plugin speaks.
bool Application::is_written() {
  for (const auto& extension : parts_->extensions) {
    const std::string line = extension->unwritten();
    if (line.empty()) continue;
    refuse(absent_file(line, files_));
    unconfigured_ = true;
    return false;
  }
  return true;
}

int Application::check(bool running, bool quiet) {
  is_quiet_ = quiet;
  if (running) find_credentials();
  if (!prepare(true)) return exit_refused;
  if (is_left_to_the_running_one_) return exit_ok;
  Parts& p = *parts_;
  Faults faults;
  // Beside a running davit, a resource that another process holds is no fault.
  const auto add = [&](const Result<>& result) {
    if (result.ok() || (running && result.error().code == Code::unavailable)) return;
    faults.add("", "", result.error().message);
  };
  p.assembly->check(faults, running);
  std::vector<Described> described;
  for (auto& extension : p.extensions) {
    for (auto& d : extension->describe()) {
      if (d.verb == "listens") add(can_listen(address_of(d)));
      described.push_back(std::move(d));
    }
  }
  if (!quiet)
    std::fputs(print_graph(p.assembly->graph(), described, terminal_columns()).c_str(), stdout);
  std::fflush(stdout);
  leave_to_the_running_one(faults);
  print(faults);
  return faults.empty() ? exit_ok : exit_refused;
}

int Application::sandbox() {
  Faults faults;
  const Config config = Config::load(files_, faults);
  const HostSettings settings = read_host_settings(config, faults);
  if (!faults.empty()) return print(faults), exit_refused;
  std::fputs(sandbox_drop_in(config, settings, plugin_directories(settings)).c_str(), stdout);
  return exit_ok;
}

std::optional<std::string> Application::rights_documents() {
  if (!prepare(true)) return std::nullopt;
  std::string out;
  for (const davit_ref& ref : parts_->assembly->offering(DAVIT_RIGHTS)) {
    StringSink text;
    const auto r = checked(
        [&](davit_error* e) {
          return static_cast<const davit_rights*>(ref.vtable)->document(ref.self, text.get(), e);
        },
        text);
    if (!r.ok()) return refuse(r.error().message), std::nullopt;
    out += (out.empty() ? "" : "---\n") + text.take();
  }
  if (out.empty()) return refuse("nothing in these files needs rights of a cluster"), std::nullopt;
  return out;
}

int Application::rights() {
  const auto documents = rights_documents();
  if (!documents) return exit_refused;
  std::fputs(documents->c_str(), stdout);
  return exit_ok;
}

std::optional<davit_ref> Application::storage_with(const char* interface,
                                                   const std::string& storage,
                                                   const std::string& none) {
  std::vector<davit_ref> able = parts_->assembly->offering(interface);
  if (!storage.empty())
    std::erase_if(able, [&](const davit_ref& ref) { return view(ref.instance) != storage; });
  if (able.size() == 1) return able.front();
  refuse(able.empty() ? none : "these files name several storages: say which with --storage");
  return std::nullopt;
}

int Application::restore(const std::string& file, const std::string& storage) {
  if (!prepare(true)) return exit_refused;
  const auto ref =
      storage_with(DAVIT_STORAGE_COPY, storage, "no storage of these files can be restored");
  if (!ref) return exit_refused;
  const auto restored = storage::Copies(*ref).restore(file);
  if (!restored.ok()) {
    std::fprintf(stderr, "%s\n", restored.error().message.c_str());
    return exit_failed;
  }
  std::printf("restored: version %llu is the newest\n",
              static_cast<unsigned long long>(restored->copied.head.version.value()));
  if (!restored->aside.empty())
    std::printf("the store that was there is now %s\n", restored->aside.c_str());
  return exit_ok;
}

int Application::migrate(const std::string& storage, bool dry_run) {
  if (!prepare(true)) return exit_refused;
  const auto ref = storage_with(DAVIT_STORAGE_SCHEMA, storage,
                                "no storage of these files has a schema that is migrated");
  if (!ref) return exit_refused;
  const auto steps = storage::Schemas(*ref).migrate(Op(), dry_run);
  if (!steps.ok()) {
    std::fprintf(stderr, "%s\n", steps.error().message.c_str());
    return exit_failed;
  }
  if (steps->empty()) {
    std::puts("the schema is the newest: nothing to do");
  } else {
    std::printf("%s:\n%s", dry_run ? "would be done" : "done", steps->c_str());
  }
  return exit_ok;
}

int Application::run() {
  share_arenas();
  life_->passed = PassedSockets::from_environment();
  life_->listen();
  if (const std::string line = absent_configuration(files_); !line.empty()) {
    refuse(line);
    return exit_unconfigured;
  }
  if (!prepare(false)) return unconfigured_ ? exit_unconfigured : exit_refused;
  parts_->shutdown.on_request([this](const Shutdown::Request& request) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(request.deadline - Clock::now());
    parts_->log.error(request.instance, "ends the process",
                      {{"reason", request.reason},
                       {"within_ms", std::to_string(std::max<int64_t>(0, left.count()))}});
    life_->watchdog->end_at(request.deadline, exit_failed);
    life_->starting.cancel();
    const std::lock_guard lock(life_->mutex);
    life_->changed.notify_all();
  });
  return wind_down(serve());
}

int Application::serve() {
  Parts& p = *parts_;
  p.log.info("host", "starting", {{"version", DAVIT_VERSION}, {"pid", std::to_string(::getpid())}});
  const auto stopped_meanwhile = [this] {
    const std::lock_guard lock(life_->mutex);
    return life_->ends();
  };
  const Result<> started = p.assembly->start(life_->starting);
  if (!started.ok()) return stopped_meanwhile() ? exit_ok : refuse(started.error().message);
  for (auto& extension : p.extensions) {
    const Result<> listening = extension->listen();
    if (!listening.ok()) return refuse(listening.error().message);
  }
  for (const std::string& address : life_->passed.close()) {
    p.log.warn("host", "no listener has the address of a socket that the service manager passes",
               {{"socket", address}});
  }
  {
    const std::lock_guard lock(life_->mutex);
    life_->ready = true;  // before anybody is told, who may then send SIGTERM
  }
  p.log.info("host", "ready", {{"plugins", std::to_string(p.assembly->graph().size())}});
  notify("READY=1\nSTATUS=" + running_status());
  life_->begin_heartbeat(p.runtime);
  std::unique_lock lock(life_->mutex);
  while (!life_->ends()) {
    const bool told = life_->changed.wait_for(lock, memory_interval,
                                              [this] { return life_->ends() || life_->reload; });
    const bool wanted = std::exchange(life_->reload, false);
    lock.unlock();
    if (wanted) reload();
    if (!told) give_memory_back();
    lock.lock();
  }
  if (life_->signal == 0) return exit_ok;
  const auto delay = life_->stop_delay;
  p.log.info("host", "stopping",
             {{"signal", life_->signal == SIGINT ? "SIGINT" : "SIGTERM"},
              {"delay_ms", std::to_string(delay.count())}});
  lock.unlock();
  if (delay.count() != 0) let_callers_leave(delay);
  return exit_ok;
}

// Everything is served as before, and the readiness fails: so a load balancer takes this process
// out before it refuses anybody.
void Application::let_callers_leave(std::chrono::milliseconds delay) {
  Parts& p = *parts_;
  p.health.set("host", DAVIT_HEALTH_NOT_SERVING, "stopping soon");
  std::unique_lock lock(life_->mutex);
  life_->changed.wait_for(lock, delay, [&p] { return p.shutdown.requested().has_value(); });
}

// The order is: refuse new calls, stop the plugins, end the remaining calls. Plugins end the calls
// that they serve.
int Application::wind_down(int code) {
  Parts& p = *parts_;
  notify("STOPPING=1");
  life_->end_heartbeat();
  Clock::time_point deadline;
  {
    const std::lock_guard lock(life_->mutex);
    life_->stop_within(p.settings.stop_timeout);
    deadline = *life_->stop_by;
  }
  // Half of the time that is left, so that cancelled work can still end.
  if (const auto request = p.shutdown.requested())
    deadline = std::min(deadline, Clock::now() + (request->deadline - Clock::now()) / 2);
  const auto give_up = [&](const std::string& who, const std::string& doing,
                           const std::string& why) {
    life_->say_late(who, doing, why);
    ::_exit(p.shutdown.requested() ? exit_failed : exit_late);
  };
  for (auto& extension : p.extensions) extension->drain();
  if (const auto late = p.assembly->stop(deadline)) give_up(late->instance, "stop", late->why);
  const auto last = std::max(deadline, Clock::now()) + grace;
  for (auto& extension : p.extensions) extension->stop(last);
  if (!p.runtime.shutdown(last)) {
    const auto step = Step::oldest([](const Step::Seen&) { return true; });
    give_up(p.runtime.busy(), "work", step ? step->text() + ", does not end" : "has work left");
  }
  p.assembly->destroy();
  p.runtime.run_rest();
  p.log.info("host", "stopped");
  return p.shutdown.requested() ? exit_failed : code;
}

}  // namespace davit::host
