// Calls with a deadline while the store hangs.
#include <davit/v1/agent.pb.h>

#include "fakes/hung_storage.hpp"

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*);

namespace davit::recorder {
namespace {

void expect_in_time(const std::string& path, const std::string& request, size_t store_calls = 1) {
  testing::expect_answers_in_time(davit_plugin_entry_v1(0, nullptr), STORAGE_MODULE,
                                  {path, request, store_calls});
}

TEST(HungStore, AReportIsAnsweredInTime) {
  v1::ReportRequest r;
  auto* s = r.add_statuses();
  s->set_kind("widget");
  s->set_id("a");
  s->set_region("eu");
  s->set_epoch(1);
  s->set_sequence(1);
  expect_in_time("davit.v1.AgentService/Report", r.SerializeAsString());
}

TEST(HungStore, AProgressIsAnsweredInTime) {
  v1::ProgressRequest r;
  r.set_agent("one");
  r.set_epoch(1);
  r.set_sequence(1);
  expect_in_time("davit.v1.AgentService/Progress", r.SerializeAsString(), 2);
  expect_in_time("ctrl.v1.ClusterService/Heartbeat",
                 "\x0a\x02"
                 "eu\x12\x03"
                 "aws",
                 2);
}

TEST(HungStore, AReportOfKranesAgentIsAnsweredInTime) {
  expect_in_time("ctrl.v1.ClusterService/ReportWidget",
                 testing::fake_message("{\"name\":\"name-a\",\"ready\":1}"), 2);
}

}  // namespace
}  // namespace davit::recorder
