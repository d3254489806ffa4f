// A part of the host that is built apart from it: the RPC layer (host/rpc) and the codec
// (host/codec). Each is a library of its own with one maker; the assembly calls what stands here,
// in this order, from main:
//
//   make_... -> configure -> (plugins: create, wire) -> wired -> (check: describe, no more)
//            -> (plugins: start) -> listen ... drain -> (plugins: stop) -> stop -> destructor
//
// What a plugin asks for with davit_host.query goes to `service`.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class Config;
class Faults;
class Health;
class Log;
class Metrics;
class Runtime;
class Shutdown;

// What the host gives to an extension; everything outlives it.
struct Core {
  Log& log;            // services/log.hpp
  Runtime& runtime;    // runtime/runtime.hpp: strands, timers, pools
  Metrics& metrics;    // services/metrics.hpp
  Health& health;      // services/health.hpp
  Shutdown& shutdown;  // services/shutdown.hpp
};

// One line of `davit check`: which instance serves or calls what.
struct Described {
  std::string instance;  // empty: the host itself ("listens")
  std::string verb;      // "serves", "calls", "listens"
  std::string what;      // "davit.v1.AgentService/Watch", "control (http://127.0.0.1:7070)", "main
                         // 0.0.0.0:7070"
};

class Extension {
 public:
  virtual ~Extension() = default;
  // The service's table, or nullptr: "davit.rpc/1". [any]
  virtual const void* service(std::string_view id) const = 0;
  // Reads its own tables of the configuration (config.table("rpc", faults)). Opens nothing.
  virtual void configure(const Config&, Faults&) {}
  // Every plugin is wired. `check` = true: would listen succeed, as far as that can be seen without
  // binding a port (certificates can be read, files are there)?
  virtual Result<> wired(bool check) {
    (void)check;
    return {};
  }
  virtual std::vector<Described> describe() const { return {}; }
  // Every plugin is started: bind the ports, serve.
  virtual Result<> listen() { return {}; }
  // The configuration was read again, in two steps, so that all of it is taken or nothing. This one
  // reads and checks what can change while the host runs, changes nothing, adds its faults, and its
  // keys to `live`, changed or not. What it gives makes the change when it is called, and cannot
  // fail; it is called only if nobody has found a fault, and is destroyed soon, on main. May be
  // empty: nothing changes. From main, after listen.
  virtual std::function<void()> prepare_reload(const Config&, Faults&,
                                               std::vector<std::string>& live) {
    (void)live;
    return {};
  }
  // No new call is taken any more; calls in progress go on, for their plugins end them in `stop`.
  virtual void drain() {}
  // Every plugin is stopped: cancel what is left and return when no callback will come any more.
  virtual void stop(std::chrono::steady_clock::time_point deadline) { (void)deadline; }
};

std::unique_ptr<Extension> make_codec(const Core&);  // host/codec
std::unique_ptr<Extension> make_rpc(const Core&);    // host/rpc

}  // namespace davit::host
