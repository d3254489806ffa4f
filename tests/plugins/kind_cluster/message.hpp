// The messages that the tests begin from, and what reconcile makes of them.
#pragma once

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "fakes/planned.hpp"
#include "reconcile.hpp"
#include "record.hpp"
#include "render.hpp"

namespace davit::cluster_record::test {

// The smallest message that is valid, with these members besides.
inline json::object message(const json::object& more = {}) {
  json::object out{{"namespace", "fleet"}, {"name", "eu-1"}};
  for (const auto& [key, value] : more) out[key] = value;
  return out;
}

// "path: message" of what validate refuses; empty: nothing.
inline std::string fault_of(const std::string& text, const Site& site = {}) {
  const auto r = validate(text, site);
  return r.ok() ? "" : r.error().where + ": " + r.error().message;
}
inline std::string fault_of(const json::object& m, const Site& site = {}) {
  return fault_of(json::serialize(m), site);
}

// The whole answer. `desired` NULL: the record is deleted.
inline json::object answered(const json::object* desired, const json::array& observed,
                             const Site& site = {}) {
  return testing::planned({{"id", "fleet.eu-1"},
                           {"region", "eu"},
                           {"namespace", "fleet"},
                           {"name", "eu-1"},
                           {"version", "17"}},
                          desired, observed,
                          [&](const std::string& input) { return reconcile(input, site); });
}

// The Cluster of the message, as the management cluster has it, with these members put in.
inline json::object there(const json::object& of, const json::object& metadata = {},
                          const json::object& status = {}) {
  json::object out = testing::landed(answered(&of, {})).at(0).as_object();
  out["metadata"].as_object()["generation"] = 1;
  for (const auto& [key, value] : metadata) out["metadata"].as_object()[key] = value;
  if (!status.empty()) out["status"] = status;
  return out;
}

}  // namespace davit::cluster_record::test
