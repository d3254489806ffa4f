// A part of the host that joins it through this interface: the RPC layer (host/rpc), the codec
// (host/codec) and the metrics endpoint (host/observability). Each has one factory function. The
// application calls an extension from the main thread, in this order:
//
//   make_... -> configure -> (plugins: create, wire) -> wired -> (check: describe, no more)
//            -> (plugins: start) -> listen ... drain -> (plugins: stop) -> stop -> destructor
//
// `service` supplies the tables that plugins request with davit_host.query.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

#include "core.hpp"

namespace davit::host {

class Config;
class Faults;

// One line of `davit check`: what an instance serves or calls, or where the host listens.
struct Described {
  std::string instance;  // empty: the host itself ("listens")
  std::string verb;      // "serves", "calls", "listens"
  std::string what;      // "davit.v1.AgentService/Watch", "control (http://127.0.0.1:7070)", "main
                         // 0.0.0.0:7070"
};

class Extension {
 public:
  virtual ~Extension() = default;
  // The table of a service such as "davit.rpc/1", or nullptr. [any]
  virtual const void* service(std::string_view id) const = 0;
  // Reads its own tables of the configuration (config.table("rpc", faults)). Opens nothing.
  virtual void configure(const Config&, Faults&) {}
  // After configure: the first file that its settings need and that nobody has written, as a line
  // that names the setting and the file. Empty: there is none.
  virtual std::string unwritten() const { return {}; }
  // Called when every plugin is wired. `check` asks whether listen would succeed, as far as this
  // can be found out without binding a port: certificates can be read, files exist.
  virtual Result<> wired(bool check) {
    (void)check;
    return {};
  }
  virtual std::vector<Described> describe() const { return {}; }
  // Called when every plugin is started: binds the ports and serves.
  virtual Result<> listen() { return {}; }
  // First step of a reload, which takes effect as a whole or not at all. Reads and checks the keys
  // that can change while the host runs, and changes nothing. Adds its faults, and adds its keys to
  // `live`, whether they have changed or not. The returned function makes the change and cannot
  // fail. It is called only if no extension has found a fault, and is destroyed soon afterwards, on
  // the main thread. An empty function changes nothing. From the main thread, after listen.
  virtual std::function<void()> prepare_reload(const Config&, Faults&,
                                               std::vector<std::string>& live) {
    (void)live;
    return {};
  }
  // Refuses new calls from now on. Calls in progress go on; their plugins end them in `stop`.
  virtual void drain() {}
  // Called when every plugin is stopped: cancels the remaining calls, and returns when no callback
  // can follow.
  virtual void stop(std::chrono::steady_clock::time_point deadline) { (void)deadline; }
};

std::unique_ptr<Extension> make_codec(const Core&);  // host/codec
std::unique_ptr<Extension> make_rpc(const Core&);    // host/rpc

}  // namespace davit::host
