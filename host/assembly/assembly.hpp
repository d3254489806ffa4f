// The instances of one configuration, made, wired, started and stopped. All on main; `pool` is
// [any].
//
//   create -> wire -> (check | start ... stop) -> destroy
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "instance.hpp"
#include "order.hpp"
#include "services/commit_queue.hpp"

namespace davit::host {

class Config;

class Assembly : public Neighbours {
 public:
  Assembly(const Core& core, const Services& services, Loader& loader, std::string state_root);
  ~Assembly() override;

  // Loads and makes every [plugin.NAME] in the order of the files. Every fault is noted, none ends
  // it early.
  void create(const Config& config, Faults& faults);
  // Lets them find each other, and settles the order to start in.
  void wire(Faults& faults);
  // The plugins' own checks, in the order of starting.
  void check(Faults& faults);
  // One after the other; the first that fails ends it, and stop takes back what was started.
  Result<> start(const Operation& op);
  // In reverse, within the deadline in all. An instance that overstays it, and a grace, is returned
  // by name: it still runs, nothing may be destroyed any more, and the process must end with _exit.
  std::string stop(std::chrono::steady_clock::time_point deadline);
  // In reverse of starting. After the runtime's shutdown.
  void destroy();

  // For `davit check`: in the order of starting.
  struct Line {
    std::string instance, module, version;
    std::vector<std::string> roles, uses;
  };
  std::vector<Line> graph() const;

  Result<davit_ref> find(std::string_view finder, std::string_view instance,
                         std::string_view interface) override;
  std::vector<davit_ref> each(std::string_view finder, std::string_view interface) override;
  Pool* pool(std::string_view instance) override;

 private:
  struct Member;
  void create(Member&, Faults& faults);
  Result<size_t> look_up(std::string_view finder, std::string_view instance) const;

  const Core core_;
  const Services& services_;
  Loader& loader_;
  const std::string state_root_;
  CommitQueues commits_;
  std::vector<std::unique_ptr<Member>> members_;  // in the order of the files
  std::vector<size_t> order_;                     // in the order of starting
  std::vector<size_t> started_;
  bool wiring_ = false;
};

}  // namespace davit::host
