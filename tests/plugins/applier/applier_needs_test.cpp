// What a kind asks for before it answers ("needs"), and how the applier finds it out.
#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {
namespace {

using namespace std::chrono_literals;

std::string need(const std::string& id, const std::string& name) {
  return R"({"id":")" + id +
         R"(","from":"object","ref":{"version":"v1","resource":"secrets","namespace":"acme",)" +
         R"("name":")" + name + R"("}})";
}
// web's kind asks for this until it was given `id`.
auto until_given(const std::string& id, const std::string& needs) {
  return [=](const std::string& input, std::string output) {
    const bool asks =
        contains(input, "\"name\":\"web\",\"version\"") && !contains(input, "\"" + id + "\":");
    return asks ? "{\"needs\":[" + needs + "]}" : output;
  };
}
void make_secret(World& w, const std::string& name) {
  w.call(DAVIT_VERB_CREATE, "namespaces", "", "",
         R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme"}})");
  const auto r = w.call(DAVIT_VERB_CREATE, "secrets", "acme", "",
                        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":")" + name +
                            R"("},"data":{"key":"c2VjcmV0"}})");
  ASSERT_EQ(r.code, Code::ok) << r.message;
}
std::string given_to(World& w, const std::string& pointer) {
  for (const std::string& text : w.kind().inputs) {
    const json::value input = json::parse(text);
    boost::system::error_code none;
    if (const auto* found = input.find_pointer(pointer, none)) return json::serialize(*found);
  }
  return "nothing";
}

TEST(Needs, AnObjectIsReadAndGivenBeforeAnythingIsApplied) {
  World w;
  make_secret(w, "pull");
  w.kind().answers = until_given("pull", need("pull", "pull"));
  std::optional<size_t> before;  // applies before the object was read first
  w.front().policy = [&](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource == "secrets" && !before) before = w.front().sent["apply replicasets"];
    return std::nullopt;
  };
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_EQ(given_to(w, "/given/pull/data"), R"({"key":"c2VjcmV0"})");
  EXPECT_EQ(before, 0u);
  EXPECT_EQ(w.replica_sets(), "web");
}

TEST(Needs, AnObjectThatIsAbsentIsNull) {
  World w;
  w.kind().answers = until_given("pull", need("pull", "pull"));
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  EXPECT_EQ(given_to(w, "/given/pull"), "null");
  EXPECT_EQ(w.outcome(10), "done");
}

TEST(Needs, OfSeveralRoundsAreGivenTogether) {
  World w;
  make_secret(w, "two");
  w.kind().answers = [](const std::string& input, std::string output) {
    if (!contains(input, "\"one\":")) return "{\"needs\":[" + need("one", "one") + "]}";
    if (!contains(input, "\"two\":")) return "{\"needs\":[" + need("two", "two") + "]}";
    return output;
  };
  w.begin(true);
  w.apply("web", 10);
  w.wait();
  EXPECT_EQ(w.outcome(10), "done");
  const json::value last = json::parse(w.kind().inputs.back());
  EXPECT_TRUE(last.at_pointer("/given/one").is_null());
  EXPECT_TRUE(last.at_pointer("/given/two").is_object());
}

TEST(Needs, ThatCannotBeReadDelayTheirRecordAndNoOther) {
  World w;
  w.kind().answers = until_given("pull", need("pull", "pull"));
  w.front().policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource != "secrets") return std::nullopt;
    return refusal(403, "Forbidden", "secrets is forbidden: User \"davit\" cannot get secrets");
  };
  w.begin(true);
  w.apply("web", 10);
  w.apply("api", 11);
  w.wait(10min);
  EXPECT_EQ(w.outcome(10), "");
  EXPECT_EQ(w.outcome(11), "done");
  EXPECT_EQ(w.issues["web"], "delayed");
  EXPECT_TRUE(contains(w.reasons["web"], "need \"pull\": secrets acme/pull: 403 Forbidden"))
      << w.reasons["web"];
  w.front().policy = nullptr;
  w.wait(1min);
  EXPECT_EQ(w.outcome(10), "done");
  EXPECT_FALSE(w.issues.contains("web"));
}

// The reason with which a kind that answers this is parked.
std::string parked_for(std::function<std::string(const std::string&, std::string)> answers,
                       Front::Policy policy = nullptr) {
  World w;
  w.kind().answers = std::move(answers);
  w.front().policy = std::move(policy);
  w.begin(true);
  w.apply("web", 10);
  w.apply("api", 11);
  w.wait();
  EXPECT_EQ(w.outcome(10), "parked");
  EXPECT_EQ(w.replica_sets().find("web"), std::string::npos) << "nothing is applied";
  return w.reasons["web"];
}

TEST(Needs, OfASourceThatTheApplierDoesNotKnowPark) {
  EXPECT_TRUE(contains(parked_for(until_given("x", R"({"id":"x","from":"vault","ref":{}})")),
                       "from \"vault\", which this applier does not know"));
}

TEST(Needs, ThatWereMetAreNotMetTwice) {
  EXPECT_TRUE(contains(parked_for(until_given("never", need("pull", "pull"))),
                       "asks again for need \"pull\""));
}

TEST(Needs, EndAfterFourRounds) {
  int asked = 0;
  const auto more = [&asked](const std::string&, const std::string&) {
    return "{\"needs\":[" + need("n" + std::to_string(++asked), "pull") + "]}";
  };
  EXPECT_TRUE(contains(parked_for(more), "needs more after 4 answers"));
}

TEST(Needs, OfMoreThanAMebibytePark) {
  const auto large = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.resource.resource != "secrets") return std::nullopt;
    cluster::Response r;
    r.http_status = 200;
    r.body = R"({"metadata":{"name":"pull"},"data":")" + std::string(1 << 20, 'x') + "\"}";
    return r;
  };
  EXPECT_TRUE(contains(parked_for(until_given("pull", need("pull", "pull")), large),
                       "larger than 1 MiB (with need \"pull\")"));
}

}  // namespace
}  // namespace davit::applier::test
