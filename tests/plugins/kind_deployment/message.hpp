// The message that the tests begin from.
#pragma once

#include <string>

#include <boost/json.hpp>

namespace davit::deployment::test {

// The smallest message that is valid, with `replicas`; cases change it.
inline boost::json::object minimal() {
  return {{"k8s_namespace", "acme"},   {"k8s_name", "web"},
          {"workspace_id", "ws_1"},    {"project_id", "proj_1"},
          {"environment_id", "env_1"}, {"deployment_id", "d_1"},
          {"image", "nginx:1.27"},     {"replicas", 1},
          {"cpu_millicores", "250"},   {"memory_mib", "256"}};
}

}  // namespace davit::deployment::test
