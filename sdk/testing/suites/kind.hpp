// What the suites of role kind share: a client of the instance, sample messages, and the check that
// an answer of reconcile has the documented shape.
//
// `conformance.samples = "FILE"` in the configuration names a JSON file, relative to the
// configuration. The file is a list of valid apply messages that name different records. Without it
// the suites test only what holds for every message. `conformance.given = "FILE"` names the objects
// that the kind's needs are answered with: {"id": {object}}. `conformance.observed = "FILE"` names
// what the kind must say of objects in the cluster; kind_observed.cpp describes it.
#pragma once

#include <boost/json.hpp>
#include <davit/kind.hpp>

#include "suite.hpp"

namespace davit::conformance {

namespace json = boost::json;

class KindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fresh_.up().ok()) << why(fresh_.up());
    table_ = fresh_.instance().role<davit_kind>(DAVIT_KIND);
    ASSERT_NE(table_->describe(fresh_.instance().get()), nullptr) << "describe answers NULL";
    kind_ = kind::Client(fresh_.instance().ref(DAVIT_KIND));
  }
  const kind::Description& description() const { return kind_.description(); }
  const kind::Resource* described(const std::string& group, const std::string& resource) const;
  const kind::Resource* described_kind(const json::value& object) const;
  bool watched(const json::value& object) const;

  // The kind's answer after its needs have been met, as an applier meets them: with what
  // `conformance.given` has for them, else with null. Fails the calling test when that does not
  // end.
  Result<std::string> settled(const std::string& input) const;
  // As settled, and the answer must be one of the right shape. Otherwise fails the calling test and
  // returns an empty plan.
  std::string ok(const std::string& input) const;
  // The owned objects of the plan as an API server returns them, with uid and resourceVersion.
  json::array landed(const std::string& output) const;
  // Fails the calling test when the kind cannot classify.
  kind::Class class_of(const std::string& state, const std::string& apply = {}) const;
  // What is wrong with an answer of reconcile. Empty when nothing is.
  std::string shape_fault(const std::string& output) const;

  Fresh fresh_;
  kind::Client kind_;
  const davit_kind* table_ = nullptr;

 private:
  std::string step_fault(const json::value& step, size_t index) const;
  std::string removal_fault(const json::value& removal) const;
};

// Empty when the configuration names no file. A file that cannot be read fails the calling test.
std::vector<json::object> samples();

// The input of a caller that understands every optional member, and has been asked for this.
std::string with_given(const std::string& input, const json::object& given);
// What the file `conformance.given` has for a need; null when there is none.
json::value given_for(const std::string& id);

// The JSON of a file that an option names, relative to the configuration; null without the option.
json::value file_of(const char* option);

std::string text_at(const json::value& from, std::string_view pointer);

// An input of reconcile. When `desired` is NULL, nothing is desired.
std::string input_of(const Named& named, const json::value* desired, const json::array& observed);

}  // namespace davit::conformance
