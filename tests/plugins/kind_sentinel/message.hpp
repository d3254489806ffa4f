// The message that the tests begin from, and what reconcile makes of it.
#pragma once

#include <gtest/gtest.h>
#include <boost/json.hpp>

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

// The plan and the status. `desired` NULL: the sentinel is not wanted.
inline json::object planned(const json::object* desired, const json::array& observed,
                            const Site& site = {}) {
  json::object input{{"record",
                      {{"id", "s_1"},
                       {"region", "eu-1"},
                       {"namespace", "sentinel"},
                       {"name", "edge"},
                       {"version", "17"}}},
                     {"observed", observed}};
  if (desired != nullptr) input["desired"] = *desired;
  const auto output = reconcile(json::serialize(input), site);
  EXPECT_TRUE(output.ok()) << output.error().where << ": " << output.error().message;
  return output.ok() ? json::parse(*output).as_object() : json::object{};
}

// The owned objects of a plan, as a cluster shows them that has only stored them.
inline json::array landed(const json::object& plan) {
  json::array out;
  for (const auto& step : plan.at("apply").as_array()) {
    if (step.at("mode") == "apply") out.push_back(step.at("object"));
  }
  return out;
}

}  // namespace davit::sentinel::test
