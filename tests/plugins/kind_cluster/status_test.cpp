// What is said of a record, by what its Cluster says of itself.
#include "message.hpp"

namespace davit::cluster_record::test {
namespace {

std::string told(const json::object& answer) {
  const auto& s = answer.at("status").as_object();
  std::string out(s.at("health").as_string());
  for (const char* key : {"desired", "updated", "ready", "stale"})
    out += " " + json::serialize(s.at(key));
  const std::string message(s.at("message").as_string());
  return out + (message.empty() ? "" : ": " + message);
}

json::object condition(const char* type, const char* status, const char* reason,
                       const char* message = "", int64_t generation = 1) {
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"message", message},
          {"observedGeneration", generation}};
}

json::object conditions(json::array all, const json::object& more = {}) {
  json::object out{{"conditions", std::move(all)}};
  for (const auto& [key, value] : more) out[key] = value;
  return out;
}

const json::object& ready() {
  static const json::object r = conditions({condition("Ready", "True", "Ready")});
  return r;
}
json::object failed(const char* reason, const char* message) {
  return conditions({condition("Ready", "False", "Failed", message)},
                    {{"errorReason", reason}, {"errorMessage", message}});
}

std::string of_wanted(const json::object& status, const json::object& metadata = {},
                      const json::object& m = message()) {
  return told(answered(&m, {there(m, metadata, status)}));
}

TEST(ClusterStatus, IsThatOfTheCondition) {
  const std::pair<json::object, const char*> rows[] = {
      {{}, "progressing 1 0 0 0: no controller has said anything of it yet"},
      {ready(), "healthy 1 1 1 0"},
      {conditions({condition("Ready", "False", "Building", "1 of 2")}),
       "progressing 1 1 0 0: Building: 1 of 2"},
      {failed("CreateError", "no quota"), "unhealthy 1 1 0 0: CreateError: no quota"},
      // Of the spec before.
      {conditions({condition("Ready", "True", "Ready", "", 0)}),
       "progressing 1 0 1 0: its controller has not seen the change yet"},
      {conditions({condition("Ready", "False", "Failed", "no quota", 0)},
                  {{"errorReason", "CreateError"}, {"errorMessage", "no quota"}}),
       "progressing 1 0 0 0: its controller has not seen the change yet"},
      // Controllers that write no conditions, or no generations.
      {{{"errorMessage", "no quota"}}, "unhealthy 1 1 0 0: no quota"},
      {conditions({{{"type", "Ready"}, {"status", "True"}}}), "healthy 1 1 1 0"},
      // What nobody should write.
      {{{"conditions", 7}}, "progressing 1 0 0 0: no controller has said anything of it yet"},
      {conditions({7, condition("Ready", "True", "Ready")}, {{"errorReason", 7}}),
       "healthy 1 1 1 0"},
  };
  for (const auto& [status, expected] : rows) EXPECT_EQ(of_wanted(status), expected) << status;
  const json::object m = message();
  EXPECT_EQ(told(answered(&m, {})), "progressing 1 0 0 0: is not there yet");
}

// A cluster that works is counted as ready while it is changed. Whoever waits for the change does
// not take that for the end of it.
TEST(ClusterStatus, OfWhatTheRecordWasIsNotThatOfWhatItIs) {
  const json::object now = message({{"provider_spec", {{"size", 2}}}});
  const json::object before = message({{"provider_spec", {{"size", 1}}}});
  EXPECT_EQ(told(answered(&now, {there(before, {}, ready())})),
            "progressing 1 0 1 0: is not yet as the record has it");
  EXPECT_EQ(told(answered(&now, {there(now, {}, ready())})), "healthy 1 1 1 0");
}

TEST(ClusterStatus, OfAPausedRecordIsAsItWantsOnceTheControllerHasSaidSo) {
  const json::object m = message({{"paused", true}});
  const json::object said =
      conditions({condition("Ready", "False", "Paused"),
                  condition("Paused", "True", "Annotated", "the annotation is set")});
  EXPECT_EQ(of_wanted({}, {}, m), "progressing 1 0 0 0: no controller has said anything of it yet");
  EXPECT_EQ(of_wanted(ready(), {}, m), "progressing 1 0 1 0: its controller has not paused it yet");
  EXPECT_EQ(of_wanted(said, {}, m), "paused 1 1 1 0: Annotated: the annotation is set");
  EXPECT_EQ(of_wanted(said), "progressing 1 0 0 0: Annotated: the annotation is set")
      << "somebody else has paused it";
}

TEST(ClusterStatus, SaysThatSomebodyHasDeletedTheCluster) {
  const json::object going{{"deletionTimestamp", "2026-01-01T00:00:00Z"},
                           {"finalizers", json::array{"cluster.cluster.k8s.io"}}};
  EXPECT_EQ(of_wanted(ready(), going),
            "progressing 1 0 1 0: somebody has deleted it, and it is made again: no controller has "
            "said anything of its removal yet");
}

TEST(ClusterStatus, HasEndpointsAndWhoBuildsItInItsDetail) {
  const json::object m = message();
  json::array endpoints{{{"host", "10.0.0.1"}, {"port", 6443}},
                        {{"host", "fd00::1"}, {"port", 443}},
                        {{"host", "eu-1.example.com"}},
                        {{"port", 1}},
                        7};
  for (int i = 0; i < 20; ++i) endpoints.push_back({{"host", "x"}, {"port", i}});
  json::object status = failed("UpdateError", "no quota");
  status["apiEndpoints"] = endpoints;
  status["actuator"] = "exec";
  const json::object plan = answered(&m, {there(m, {}, status)});
  const json::object& detail = plan.at("status").at("detail").as_object();
  EXPECT_EQ(detail.at("endpoints").as_array().size(), 8u) << "of the first ten";
  EXPECT_EQ(detail.at("endpoints").at(0), "10.0.0.1:6443");
  EXPECT_EQ(detail.at("endpoints").at(1), "[fd00::1]:443");
  EXPECT_EQ(detail.at("endpoints").at(2), "eu-1.example.com");
  EXPECT_EQ(detail.at("actuator"), "exec");
  EXPECT_EQ(detail.at("reason"), "Failed");
  EXPECT_EQ(detail.at("error_reason"), "UpdateError");
  EXPECT_EQ(detail.at("error_message"), "no quota");
}

TEST(ClusterStatus, CutsWhatIsSaidAtLength) {
  const std::string long_text(100'000, 'x');
  const json::object m = message();
  const json::object plan = answered(&m, {there(m, {}, failed("CreateError", long_text.c_str()))});
  EXPECT_LT(json::serialize(plan.at("status")).size(), 4000u);
}

// --- a record that is deleted

std::string of_deleted(const json::object& status, const json::array& finalizers,
                       bool terminating = true) {
  json::object metadata{{"finalizers", finalizers}};
  if (terminating) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return told(answered(nullptr, {there(message(), metadata, status)}));
}

TEST(ClusterStatus, OfADeletedRecordSaysWhatItsClusterWaitsFor) {
  const json::array ours{"someone/else", "cluster.cluster.k8s.io"};
  const json::array others{"someone/else", "and/another"};
  const auto deleting = [](const char* reason, const char* message, const json::object& more = {}) {
    return conditions({condition("Ready", "False", reason, message),
                       condition("Deleting", "True", reason, message)},
                      more);
  };
  EXPECT_EQ(told(answered(nullptr, {})), "unknown 0 0 0 0");
  EXPECT_EQ(answered(nullptr, {}).at("status").at("gone"), true);
  EXPECT_EQ(of_deleted(ready(), ours, false), "progressing 0 0 1 1: being deleted");
  EXPECT_EQ(of_deleted(ready(), ours),
            "progressing 0 0 1 1: being deleted; no controller has said anything of its removal "
            "yet");
  EXPECT_EQ(of_deleted(failed("CreateError", "no quota"), ours),
            "progressing 0 0 0 1: being deleted; CreateError: no quota");
  EXPECT_EQ(of_deleted(deleting("Deleting", "1 of 2"), ours),
            "progressing 0 0 0 1: being deleted; Deleting: 1 of 2");
  EXPECT_EQ(
      of_deleted(deleting("Failed", "a disk is attached. To give it up, do this",
                          {{"errorReason", "DeleteError"}, {"errorMessage", "a disk is attached"}}),
                 ours),
      "unhealthy 0 0 0 1: being deleted; DeleteError: a disk is attached. To give it up, do "
      "this");
  // What failed before is kept while it is paused.
  EXPECT_EQ(of_deleted(deleting("Paused", "the annotation is set",
                                {{"errorReason", "CreateError"}, {"errorMessage", "no quota"}}),
                       ours),
            "progressing 0 0 0 1: being deleted; Paused: the annotation is set");
  // The controller is done with it.
  EXPECT_EQ(of_deleted(deleting("Failed", "a disk is attached",
                                {{"errorReason", "DeleteError"}, {"errorMessage", "x"}}),
                       others),
            "progressing 0 0 0 1: being deleted; waits for the finalizers of others: someone/else, "
            "and/another");
  EXPECT_EQ(of_deleted({}, {}), "progressing 0 0 0 1: being deleted");
  const json::object plan = answered(nullptr, {there(message(), {{"finalizers", ours}})});
  EXPECT_EQ(plan.at("status").at("gone"), false);
}

}  // namespace
}  // namespace davit::cluster_record::test
