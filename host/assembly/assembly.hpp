// The instances of one configuration, made, wired, started and stopped. All on main; `pool` is
// [any].
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

class Activity;
class Config;

class Assembly : public Neighbours {
 public:
  // `activity` is told of each step before it begins; it outlives the assembly.
  Assembly(const Core& core, const Services& services, Loader& loader, std::string state_root,
           Activity& activity);
  ~Assembly() override;

  // Loads and makes every [plugin.NAME] in the order of the files. Every fault is noted, none ends
  // it early.
  void create(const Config& config, Faults& faults);
  // Lets them find each other, and settles the order to start in.
  void wire(Faults& faults);
  // The plugins' own checks, in the order of starting. `running`: UNAVAILABLE, which says that
  // another process has what they need, is no fault.
  void check(Faults& faults, bool running);
  // One after the other; the first that fails, or the operation's cancel, ends it, and stop takes
  // back what was started.
  Result<> start(const Operation& op);
  // In reverse, within the deadline in all, each when the calls into it have ended. The first one
  // that cannot be stopped ends it: something of it may still run and use what it looked up, so
  // nothing may be stopped or destroyed any more, and the process must end with _exit.
  struct Late {
    std::string instance, why;
  };
  std::optional<Late> stop(std::chrono::steady_clock::time_point deadline);
  // In reverse of starting. After the runtime's shutdown.
  void destroy();

  // For `davit check`: in the order of starting.
  struct Line {
    std::string instance, module, version;
    std::vector<std::string> roles, uses;
  };
  std::vector<Line> graph() const;
  // Every instance that has this interface, in the order of the files; for the host's own use.
  std::vector<davit_ref> offering(std::string_view interface) const;

  Result<davit_ref> find(std::string_view finder, std::string_view instance,
                         std::string_view interface) override;
  std::vector<davit_ref> each(std::string_view finder, std::string_view interface) override;
  Pool* pool(std::string_view instance) override;

 private:
  struct Member;
  void create(Member&, Faults& faults);
  Result<size_t> look_up(std::string_view finder, std::string_view instance) const;
  std::string key_that_says(std::string_view finder, std::string_view name) const;

  const Core core_;
  const Services& services_;
  Loader& loader_;
  const std::string state_root_;
  Activity& activity_;
  CommitQueues commits_;
  std::vector<std::unique_ptr<Member>> members_;  // in the order of the files
  std::vector<size_t> order_;                     // in the order of starting
  std::vector<size_t> started_;
  bool wiring_ = false;
};

}  // namespace davit::host
