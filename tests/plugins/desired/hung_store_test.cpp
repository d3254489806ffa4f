// Calls with a deadline while the store hangs. What controllers call: timely_read_test.cpp.
#include <davit/v1/operator.pb.h>

#include "fakes/hung_storage.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::desired {
namespace {

void expect_in_time(const std::string& method, const google::protobuf::Message& request,
                    size_t store_calls = 1) {
  testing::expect_answers_in_time(
      davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
      {"davit.v1.OperatorService/" + method, request.SerializeAsString(), store_calls});
}

TEST(HungStore, ReadsAreAnsweredInTime) {
  v1::OperatorGetRequest get;
  get.mutable_key()->set_kind("widget");
  get.mutable_key()->set_region("eu");
  get.mutable_key()->set_id("a");
  expect_in_time("Get", get, 2);
  expect_in_time("List", v1::ListRequest());
  expect_in_time("Watch", v1::OperatorWatchRequest(), 2);
}

TEST(HungStore, StatusesAreAnsweredInTime) {
  for (const char* method : {"Status", "WatchStatus", "ListStatus"})
    expect_in_time(method, v1::StatusRequest(), 4);
}

TEST(HungStore, ChangesAreAnsweredInTime) {
  v1::ApplyRequest apply;
  auto* d = apply.add_documents();
  d->set_kind("widget");
  d->set_region("eu");
  d->set_id("new");
  d->set_spec_json("{\"id\":\"new\",\"ns\":\"shop\",\"name\":\"new\",\"size\":0}");
  expect_in_time("Apply", apply, 2);
  v1::DeleteRequest remove;
  for (const char* id : {"a", "unknown"}) {
    auto* key = remove.add_keys();
    key->set_kind("widget");
    key->set_region("eu");
    key->set_id(id);
  }
  expect_in_time("Delete", remove, 2);
}

TEST(HungStore, CareOfTheStoreIsAnsweredInTime) {
  expect_in_time("Maintain", v1::MaintainRequest(), 3);
  v1::ForgetAgentRequest forget;
  forget.set_region("eu");
  forget.set_agent("one");
  expect_in_time("ForgetAgent", forget);
}

}  // namespace
}  // namespace davit::desired
