// What the reconcile of a kind answers, and what a cluster makes of it.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::testing {

// The whole answer of `reconcile`, which takes JSON. `desired` NULL: the record is deleted.
template <class Reconcile>
boost::json::object planned(boost::json::object record, const boost::json::object* desired,
                            const boost::json::array& observed, Reconcile reconcile) {
  boost::json::object input{{"record", std::move(record)}, {"observed", observed}};
  if (desired != nullptr) input["desired"] = *desired;
  const auto output = reconcile(boost::json::serialize(input));
  EXPECT_TRUE(output.ok()) << output.error().where << ": " << output.error().message;
  return output.ok() ? boost::json::parse(*output).as_object() : boost::json::object{};
}

// The owned objects of an answer, as a cluster shows them that has only stored them.
inline boost::json::array landed(const boost::json::object& answer) {
  boost::json::array out;
  for (const auto& step : answer.at("apply").as_array()) {
    if (step.at("mode") == "apply") out.push_back(step.at("object"));
  }
  return out;
}

}  // namespace davit::testing
