// The message that the tests begin from, and what reconcile makes of it.
#pragma once

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "fakes/planned.hpp"
#include "reconcile.hpp"

namespace davit::sentinel::test {

namespace json = boost::json;

// The smallest message that is valid; cases change it.
inline json::object minimal() {
  return {{"k8s_name", "edge"},     {"workspace_id", "ws_1"},
          {"project_id", "proj_1"}, {"environment_id", "env_1"},
          {"sentinel_id", "s_1"},   {"image", "sentinel:1"},
          {"replicas", 2},          {"cpu_millicores", "250"},
          {"memory_mib", "256"}};
}

using testing::landed;

// The plan and the status. `desired` NULL: the sentinel is not wanted.
inline json::object planned(const json::object* desired, const json::array& observed,
                            const Site& site = {}) {
  return testing::planned({{"id", "s_1"},
                           {"region", "eu-1"},
                           {"namespace", "sentinel"},
                           {"name", "edge"},
                           {"version", "17"}},
                          desired, observed,
                          [&](const std::string& input) { return reconcile(input, site); });
}

}  // namespace davit::sentinel::test
