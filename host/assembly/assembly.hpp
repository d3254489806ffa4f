// Creates, wires, starts and stops the instances of one configuration. All functions run on the
// main thread, except for `pool`, which is [any].
//
//   create -> wire -> (check | start ... stop) -> destroy
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "instance.hpp"
#include "order.hpp"
#include "services/commit_queue.hpp"

namespace davit::host {

class Config;

class Assembly : public Neighbours {
 public:
  // `commit_timeout`: how long a call of a storage lasts at most whose callers have no deadline.
  Assembly(const Core& core, const Services& services, Loader& loader, std::string state_root,
           std::chrono::milliseconds commit_timeout);
  ~Assembly() override;

  // Loads and creates every [plugin.NAME] in the order of the files. Goes on after a fault, so that
  // all faults are collected.
  void create(const Config& config, Faults& faults);
  // Lets the instances look each other up, and determines the order of starting.
  void wire(Faults& faults);
  // Runs the plugins' own checks in the order of starting. With `running`, UNAVAILABLE is no fault:
  // it says that another process holds what the plugin needs.
  void check(Faults& faults, bool running);
  // Starts the instances one after the other. The first failure, or the operation's cancel, ends
  // it. The caller then calls stop, which stops the instances that were started.
  Result<> start(const Operation& op);
  // The same for one instance and those that it looked up, for a command that needs no other. Those
  // that have been started are left out.
  Result<> start_only(std::string_view instance, const Operation& op);
  // Stops the instances in reverse, each after the calls into it have ended. The deadline is for
  // all of them together. The first instance that cannot be stopped ends it. Parts of that instance
  // may still run and use the instances that it looked up, so nothing may be stopped or destroyed
  // any more, and the process must end with _exit.
  struct Late {
    std::string instance, why;
  };
  std::optional<Late> stop(std::chrono::steady_clock::time_point deadline);
  // Destroys in reverse of starting. Call it after the runtime's shutdown.
  void destroy();

  // The graph for `davit check`, in the order of starting.
  struct Line {
    std::string instance, module, version;
    std::vector<std::string> roles, needs;
    unsigned pool_threads = 1;
    std::vector<std::string> uses;
  };
  std::vector<Line> graph() const;
  // All instances that offer this interface, in the order of the files. For the host's own use.
  std::vector<davit_ref> offering(std::string_view interface) const;
  // Of the instance. Nothing: it does not offer the interface.
  std::optional<davit_ref> offer(std::string_view instance, std::string_view interface) const;
  // The host as the instance sees it.
  const davit_host* host_of(std::string_view instance) const;

  Result<davit_ref> find(std::string_view finder, std::string_view instance,
                         std::string_view interface) override;
  std::vector<davit_ref> each(std::string_view finder, std::string_view interface) override;
  Pool* pool(std::string_view instance) override;

 private:
  struct Member;
  void create(Member&, Faults& faults);
  Result<> start(size_t member, const Operation& op);
  void add_used(size_t member, std::set<size_t>& to) const;
  void destroy(Member&);
  Result<size_t> look_up(std::string_view finder, std::string_view instance) const;
  std::string key_that_says(std::string_view finder, std::string_view name) const;

  const Core core_;
  const Services& services_;
  Loader& loader_;
  const std::string state_root_;
  const std::chrono::milliseconds commit_timeout_;
  CommitQueues commits_;
  std::vector<std::unique_ptr<Member>> members_;  // in the order of the files
  std::vector<size_t> order_;                     // in the order of starting
  std::vector<size_t> started_;
  bool wiring_ = false;
};

}  // namespace davit::host
