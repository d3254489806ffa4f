// Calls with a deadline while the store hangs.
#include "fakes/hung_storage.hpp"
#include "stream_rig.hpp"

namespace davit::streamer {
namespace {

void expect_in_time(const std::string& path, const std::string& request, size_t store_calls = 1) {
  testing::expect_answers_in_time(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
                                  {path, request, store_calls});
}

TEST(HungStore, AWatchIsAnsweredInTime) {
  expect_in_time(watch_path, watch_request(), 3);
  expect_in_time("ctrl.v1.ClusterService/WatchWidgets", "", 3);
}

TEST(HungStore, APointQueryIsAnsweredInTime) {
  v1::GetRequest r;
  r.set_kind("widget");
  r.set_id("a");
  expect_in_time(get_path, r.SerializeAsString());
  expect_in_time("ctrl.v1.ClusterService/GetWidget",
                 "\x0a\x01"
                 "a");
}

}  // namespace
}  // namespace davit::streamer
