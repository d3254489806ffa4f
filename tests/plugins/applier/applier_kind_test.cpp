// A kind that cannot answer now, answers what nobody knows, or says that records share an object.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

Error later(std::chrono::milliseconds after = {}) {
  return {Code::unavailable, "its process is starting", {}, after};
}
KindFront::Refuse of_web(Error e) {
  return [e](const std::string& text) -> std::optional<Error> {
    if (!contains(text, "\"web\"")) return std::nullopt;
    return e;
  };
}
KindFront::Refuse never() {
  return {};
}
// The answer with one more member at this place, if it has the place.
std::string with(const std::string& output, const std::string& pointer, const std::string& member) {
  json::value root = json::parse(output);
  boost::system::error_code none;
  json::value* at = root.find_pointer(pointer, none);
  if (at != nullptr) at->as_object()[member] = true;
  return json::serialize(root);
}

TEST(Kind, ThatCannotReconcileForAnHourDelaysItsRecordAndNoOther) {
  World w;
  w.begin(true);
  w.kind().reconcile = of_web(later());
  w.apply("web", 10);
  w.apply("api", 11);
  w.wait(1h);
  EXPECT_EQ(w.outcome(10), "") << "it holds the cursor";
  EXPECT_EQ(w.issues["web"], "delayed");
  EXPECT_EQ(w.reasons["web"], "kind: its process is starting");
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_FALSE(w.issues.contains("api"));
  EXPECT_GE(w.kind().asked("web"), 100u);
  EXPECT_LE(w.kind().asked("web"), 400u) << "with back-off";
  w.kind().reconcile = never();
  w.wait(1min);
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_FALSE(w.issues.contains("web"));
  EXPECT_EQ(w.replica_sets(), "api web");
}

TEST(Kind, ThatTakesASecondInEachSlotHoldsUpNoOtherRecord) {
  World w;
  w.begin(true);
  size_t slots = 0;
  std::string other;
  const auto takes_a_second = [&](const std::string& text) -> std::optional<Error> {
    if (!contains(text, "\"web\"")) return std::nullopt;
    ++slots;
    w.wait(1s);
    if (other.empty()) other = w.outcome(11);
    return std::nullopt;
  };
  w.kind().validate = w.kind().reconcile = w.kind().attribute = takes_a_second;
  w.apply("web", 10);
  w.apply("api", 11);
  w.wait(1min);
  EXPECT_EQ(other, "done") << "while the first slot was under way";
  EXPECT_GE(slots, 3u);
  EXPECT_EQ(w.outcome(10), "done");
  w.remove("web", 12);
  w.wait(1min);
  EXPECT_EQ(w.outcome(12), "done");
  EXPECT_EQ(w.replica_sets(), "api");
}

TEST(Kind, IsAskedAgainNoSoonerThanItSays) {
  World w;
  w.begin(true);
  w.kind().reconcile = of_web(later(10min));
  w.apply("web", 10);
  w.wait(1h);
  EXPECT_LE(w.kind().asked("web"), 7u);
  EXPECT_GE(w.kind().asked("web"), 5u);
}

TEST(Kind, ThatCannotValidateDelaysToo) {
  World w;
  w.begin(true);
  w.kind().validate = of_web(later());
  w.apply("web", 10);
  w.wait(1h);
  EXPECT_EQ(w.outcome(10), "");
  EXPECT_EQ(w.issues["web"], "delayed");
  w.kind().validate = never();
  w.wait(1min);
  EXPECT_EQ(w.outcome(10), "done");
}

TEST(Kind, ItsErrorsDelayByFiveCodesAndParkByTheOthers) {
  for (int32_t code = DAVIT_CANCELLED; code <= DAVIT_UNAUTHENTICATED; ++code) {
    World w;
    w.begin(true);
    w.kind().reconcile = of_web({static_cast<Code>(code), "why"});
    w.apply("web", 10);
    w.wait(10s);
    const bool later = code == 1 || code == 4 || code == 8 || code == 10 || code == 14;
    EXPECT_EQ(w.outcome(10), later ? "" : "parked") << code;
    EXPECT_EQ(w.issues["web"], later ? "delayed" : "parked") << code;
  }
}

// What the cluster shows waits with the kind: it is neither lost nor taken for somebody else's.
TEST(Kind, ThatCannotAttributeKeepsWhatTheClusterShows) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  ASSERT_EQ(w.replicas("web"), 1);
  w.kind().attribute = of_web(later());
  w.edit("web", R"({"spec":{"replicas":7}})");
  w.wait(1h);
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_NE(w.issues["web"], "parked") << w.reasons["web"];
  EXPECT_EQ(w.replicas("web"), 7);
  EXPECT_TRUE(w.host().logged("what the cluster shows waits for its kind"));
  w.kind().attribute = never();
  w.wait(1min);
  EXPECT_EQ(w.replicas("web"), 1) << "the edit is seen and repaired";
}

TEST(Kind, ThatCannotAttributeDelaysADeleteAndParksNothing) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.kind().attribute = of_web(later());
  w.remove("web", 11);
  w.wait(10min);
  EXPECT_EQ(w.outcome(11), "");
  EXPECT_EQ(w.replica_sets(), "web");
  w.kind().attribute = never();
  w.wait(1min);
  EXPECT_EQ(w.replica_sets(), "");
  EXPECT_EQ(w.outcome(11), "done");
}

TEST(Kind, TheApplierStopsWhileItCannotAttribute) {
  World w;
  w.begin(true);
  w.kind().attribute = of_web(later());
  w.apply("web", 10);
  w.wait(10s);
  EXPECT_EQ(w.replica_sets(), "web");  // and the world ends
}

TEST(Kind, AMemberThatTheApplierDoesNotKnowParksAndIsNamed) {
  for (const std::string at : {"", "/apply/0", "/status"}) {
    World w;
    w.begin(true);
    w.kind().answers = [at](const std::string&, const std::string& output) {
      return with(output, at, "surprise");
    };
    w.apply("web", 10);
    w.wait();
    EXPECT_EQ(w.outcome(10), "parked") << at;
    EXPECT_TRUE(contains(w.reasons["web"], "does not know the member \"surprise\" of "))
        << w.reasons["web"];
    EXPECT_EQ(w.replica_sets(), "") << at;
  }
}

TEST(Kind, ADeleteWithAMemberThatTheApplierDoesNotKnowDeletesNothing) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.kind().answers = [](const std::string&, const std::string& output) {
    return with(output, "/delete/0", "unless");
  };
  w.remove("web", 11);
  w.wait();
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "\"unless\" of an entry of \"delete\""));
  EXPECT_EQ(w.replica_sets(), "web");
}

TEST(Kind, HearsTheFeaturesTheStateAndTheAnnotations) {
  World w;
  w.begin(true);
  ApplyOptions o;
  o.state = "draining";
  o.annotations = {{"team", "context"}};
  w.apply("web", 10, o);
  w.apply("api", 11);
  w.wait();
  for (const std::string& text : w.kind().inputs) {
    const json::value input = json::parse(text);
    EXPECT_EQ(input.at("features"), (json::array{"needs/object", "apply/secrets"}));
    EXPECT_FALSE(input.as_object().contains("given"));
    const json::object& record = input.at("record").as_object();
    const bool web = record.at("name") == "web";
    EXPECT_EQ(record.contains("state"), web) << "api's peer does not send it";
    EXPECT_EQ(record.contains("annotations"), web);
    if (!web) continue;
    EXPECT_EQ(record.at("state"), "draining");
    EXPECT_EQ(record.at("annotations"), (json::object{{"team", "context"}}));
  }
  EXPECT_GE(w.kind().asked("web"), 1u);
}

TEST(Shared, AChangeOfTheObjectWakesEachRecordItBelongsTo) {
  World w;
  w.kind().also = [](const std::string& object) {
    if (!contains(object, "\"name\":\"web\"")) return std::vector<Named>();
    return std::vector<Named>{{"", "acme", "api"}};
  };
  w.begin(true);
  w.apply("web", 10);
  w.apply("api", 11);
  w.wait(10s);
  const size_t web = w.kind().asked("web"), api = w.kind().asked("api");
  w.edit("web", R"({"metadata":{"labels":{"note":"seen"}}})");
  w.wait(5s);
  EXPECT_GT(w.kind().asked("web"), web);
  EXPECT_GT(w.kind().asked("api"), api);
  EXPECT_TRUE(contains(w.kind().inputs.back(), "\"note\":\"seen\"")) << "each sees it";
}

TEST(Shared, AnObjectIsNotDeletedForOneOfItsRecords) {
  World w;
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  w.kind().also = [](const std::string&) { return std::vector<Named>{{"", "acme", "api"}}; };
  w.remove("web", 11);
  w.wait();
  EXPECT_EQ(w.outcome(11), "parked");
  EXPECT_TRUE(contains(w.reasons["web"], "it is also a part of acme/api")) << w.reasons["web"];
  EXPECT_EQ(w.replica_sets(), "web");
  w.kind().also = nullptr;
  w.wait(6min);
  EXPECT_EQ(w.replica_sets(), "") << "the other one has gone";
}

}  // namespace
}  // namespace davit::applier::test
