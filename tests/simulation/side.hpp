// Side: a process of the simulation, which is some plugins that start and end together. Plugins are
// those of the build unless another file is named.
#pragma once

#include <davit/testing/module.hpp>
#include <map>

namespace davit::simulation {

using Plugins = std::map<std::string, std::string>;  // files by name

struct Side {
  std::vector<std::unique_ptr<testing::TestHost>> hosts;
  std::vector<std::unique_ptr<testing::Instance>> instances;
  bool up = false;

  // Starts one more plugin in it, as the instance `name`. Its host stands beside `world`.
  void load(testing::TestHost& world, const Plugins& plugins, const std::string& file,
            const std::string& name, const testing::Config& config);
  void stop(testing::TestHost& world);
  davit_ref ref(std::string_view role) const { return instances.back()->ref(role); }
};

}  // namespace davit::simulation
