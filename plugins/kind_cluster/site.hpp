// A site's choices about clusters: one plain struct, read once from the instance's settings. The
// README explains each setting.
#pragma once

#include <string>
#include <vector>

#include <davit/host.hpp>

namespace davit::cluster_record {

struct Site {
  std::vector<std::string> namespaces = {};  // that Clusters may be in; empty: all
};

// Only for the plugin's constructor. The host notes the faults and then refuses the instance.
Site read_site(const Host& host);

}  // namespace davit::cluster_record
