// What the suites of role kind share: a client of the instance, sample messages, and the check that
// an answer of reconcile has the documented shape.
//
// `conformance.samples = "FILE"` in the configuration names a JSON file, relative to the
// configuration. The file is a list of valid apply messages that name different records. Without it
// the suites test only what holds for every message.
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
    kind_ = kind::Client(fresh_.instance().ref(DAVIT_KIND));
    table_ = fresh_.instance().role<davit_kind>(DAVIT_KIND);
  }
  const kind::Description& description() const { return kind_.description(); }
  const kind::Resource* described(const std::string& group, const std::string& resource) const;
  const kind::Resource* described_kind(const json::value& object) const;
  bool watched(const json::value& object) const;

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

std::string text_at(const json::value& from, std::string_view pointer);

// An input of reconcile. When `desired` is NULL, nothing is desired.
std::string input_of(const Named& named, const json::value* desired, const json::array& observed);

}  // namespace davit::conformance
