#include "application.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

#include "assembly.hpp"
#include "config/config.hpp"
#include "host_settings.hpp"
#include "notify.hpp"
#include "observability/endpoint.hpp"
#include "print_graph.hpp"
#include "runtime/runtime.hpp"
#include "services/health.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"
#include "services/services.hpp"
#include "services/shutdown.hpp"

namespace davit::host {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::unique_ptr<Extension>> make_extensions(const Core& core) {
  std::vector<std::unique_ptr<Extension>> out;
#ifdef DAVIT_HOST_CODEC
  out.push_back(make_codec(core));
#endif
#ifdef DAVIT_HOST_RPC
  out.push_back(make_rpc(core));
#endif
  out.push_back(make_endpoint(core));
  return out;
}

std::vector<std::string> plugin_directories(const HostSettings& settings) {
  std::vector<std::string> out = settings.plugin_dirs;
  out.push_back(Loader::default_directory());
  return out;
}

void print(const Faults& faults) {
  for (const std::string& line : faults.lines()) std::fprintf(stderr, "%s\n", line.c_str());
}

// Many threads share a little work. With glibc's eight arenas a core, each keeps what it freed to
// itself: at 10,000 idle streams 1.5 of the 2.4 KiB that each cost above gRPC's own.
void share_arenas() {
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
}

// glibc returns only what lies at the end of a heap. After a bootstrap most of what was freed lies
// between what is kept: a third of what an agent then holds.
constexpr std::chrono::seconds memory_interval{30};
void give_memory_back() {
  ::malloc_trim(0);
}

// However far everything is by then.
void end_at(Clock::time_point deadline) {
  std::thread([deadline] {
    std::this_thread::sleep_until(deadline);
    ::_exit(exit_failed);
  }).detach();
}

}  // namespace

// In the order of their making; they go in reverse, the plugins before what they use.
struct Application::Parts {
  Parts(Config c, const HostSettings& s)
      : config(std::move(c)),
        settings(s),
        runtime(s.worker_threads),
        loader(plugin_directories(s)) {
    log.set(s.log_level, s.log_format);
  }
  Config config;
  HostSettings settings;
  Log log;
  Metrics metrics;
  Health health;
  Shutdown shutdown;
  Runtime runtime;
  Core core{log, runtime, metrics, health, shutdown};
  Services services;
  std::vector<std::unique_ptr<Extension>> extensions = make_extensions(core);
  Loader loader;
  std::unique_ptr<Assembly> assembly;

  Operation starting{Clock::now() + std::chrono::seconds(60)};
  std::mutex mutex;
  std::condition_variable signalled;
  int signal = 0;  // the first that came

  bool ends() const { return signal != 0 || shutdown.requested(); }  // under the mutex
};

Application::Application(std::vector<std::string> files) : files_(std::move(files)) {}

Application::~Application() {
  if (parts_ == nullptr) return;
  parts_->runtime.shutdown(Clock::time_point::max());
  if (parts_->assembly) parts_->assembly->destroy();
  parts_->runtime.run_rest();
}

int Application::refuse(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  return exit_refused;
}

bool Application::prepare(bool check) {
  Faults faults;
  Config config = Config::load(files_, faults);
  if (!faults.empty()) return print(faults), false;
  const HostSettings settings = read_host_settings(config, faults);
  parts_ = std::make_unique<Parts>(std::move(config), settings);
  Parts& p = *parts_;
  add_host_services(p.services);
  const davit_pair version{str("version"), str(DAVIT_VERSION)};
  Metrics::set(
      p.metrics.metric(DAVIT_GAUGE, "davit_info", "which davit this is; always 1", &version, 1), 1);
  for (auto& extension : p.extensions) {
    p.services.add(*extension);
    extension->configure(p.config, faults);
  }
  p.assembly = std::make_unique<Assembly>(p.core, p.services, p.loader, p.settings.state_dir);
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
  print(faults);
  return faults.empty();
}

int Application::check() {
  if (!prepare(true)) return exit_refused;
  Parts& p = *parts_;
  Faults faults;
  p.assembly->check(faults);
  std::vector<Described> described;
  for (auto& extension : p.extensions) {
    for (auto& d : extension->describe()) described.push_back(std::move(d));
  }
  std::fputs(print_graph(p.assembly->graph(), described).c_str(), stdout);
  std::fflush(stdout);
  print(faults);
  return faults.empty() ? exit_ok : exit_refused;
}

int Application::run() {
  share_arenas();
  std::signal(SIGPIPE, SIG_IGN);
  Runtime::keep_stop_signals();
  if (!prepare(false)) return exit_refused;
  Parts& p = *parts_;
  p.runtime.on_stop_signal([&p](int count, int signal) {
    if (count > 1) {
      p.log.warn("host", "second signal: ending at once");
      ::_exit(exit_failed);
    }
    p.starting.cancel();
    std::lock_guard lock(p.mutex);
    p.signal = signal;
    p.signalled.notify_all();
  });
  p.shutdown.on_request([&p](const Shutdown::Request& request) {
    const auto left = request.deadline - Clock::now();
    p.log.error(request.instance, "ends the process",
                {{"reason", request.reason},
                 {"within_ms",
                  std::to_string(std::max<int64_t>(
                      0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count()))}});
    end_at(request.deadline);
    p.starting.cancel();
    std::lock_guard lock(p.mutex);
    p.signalled.notify_all();
  });
  return wind_down(serve());
}

int Application::serve() {
  Parts& p = *parts_;
  p.log.info("host", "starting", {{"version", DAVIT_VERSION}, {"pid", std::to_string(::getpid())}});
  const auto stopped_meanwhile = [&p] {
    std::lock_guard lock(p.mutex);
    return p.ends();
  };
  const Result<> started = p.assembly->start(p.starting);
  if (!started.ok()) return stopped_meanwhile() ? exit_ok : refuse(started.error().message);
  for (auto& extension : p.extensions) {
    const Result<> listening = extension->listen();
    if (!listening.ok()) return refuse(listening.error().message);
  }
  p.log.info("host", "ready", {{"plugins", std::to_string(p.assembly->graph().size())}});
  notify("READY=1");
  std::unique_lock lock(p.mutex);
  while (!p.signalled.wait_for(lock, memory_interval, [&p] { return p.ends(); })) {
    lock.unlock();
    give_memory_back();
    lock.lock();
  }
  if (p.signal != 0)
    p.log.info("host", "stopping", {{"signal", p.signal == SIGINT ? "SIGINT" : "SIGTERM"}});
  return exit_ok;
}

// Calls in progress are ended by the plugins that serve them, so: no new calls, plugins, what is
// left of the calls.
int Application::wind_down(int code) {
  Parts& p = *parts_;
  notify("STOPPING=1");
  auto deadline = Clock::now() + p.settings.stop_timeout;
  // Half of what is left: what is cancelled then can still end.
  if (const auto request = p.shutdown.requested())
    deadline = std::min(deadline, Clock::now() + (request->deadline - Clock::now()) / 2);
  for (auto& extension : p.extensions) extension->drain();
  const std::string late = p.assembly->stop(deadline);
  const auto give_up = [&](const std::string& who) {
    p.log.error(
        "host", "did not stop in time; ending without it",
        {{"instance", who}, {"stop_timeout_ms", std::to_string(p.settings.stop_timeout.count())}});
    ::_exit(exit_failed);
  };
  if (!late.empty()) give_up(late);
  constexpr std::chrono::seconds grace{1};
  for (auto& extension : p.extensions) extension->stop(std::max(deadline, Clock::now() + grace));
  if (!p.runtime.shutdown(std::max(deadline, Clock::now() + grace))) give_up(p.runtime.busy());
  p.assembly->destroy();
  p.runtime.run_rest();
  p.log.info("host", "stopped");
  return p.shutdown.requested() ? exit_failed : code;
}

}  // namespace davit::host
