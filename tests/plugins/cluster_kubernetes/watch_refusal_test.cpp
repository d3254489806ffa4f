// What a watch says of a server that refuses it, does not know its resource, or was away.
#include "flow.hpp"

namespace davit::cluster_kubernetes {
namespace {

TEST_F(Flow, RefusalsAreToldApartFromTrouble) {
  sync(60);
  flow.next(0);
  const auto forbidden = http(403, R"({"kind":"Status","reason":"Forbidden","message":"pods is"})");
  EXPECT_TRUE(flow.is_refused(forbidden));
  flow.ended(forbidden, 0);
  EXPECT_EQ(take(), "NO 403 Forbidden: pods is");
  flow.next(0);
  flow.ended(http(401, R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized"})"), 0);
  EXPECT_EQ(take(), "NO 401 Unauthorized");
  for (const int status : {408, 429, 500, 503}) {
    EXPECT_FALSE(flow.is_refused(http(status))) << status << " may pass";
  }
  flow.next(0);
  flow.data(R"({"type":"ERROR","object":{"kind":"Status","code":401,"message":"token expired"}})"
            "\n");
  EXPECT_EQ(take(), "NO the watch ended with an error: token expired");
}

// Pods are always there: whoever does not know them is not the API server.
TEST_F(Flow, ABuiltInResourceThatIsNotFoundIsRefusedNotEmpty) {
  sync(60);
  flow.next(0);
  flow.ended(http(404, "404 page not found\n"), 0);
  EXPECT_EQ(take(), "NO 404: the API server did not send this: is a proxy in between?");
  EXPECT_NE(resume("60").path.find("resourceVersion=60"), std::string::npos);
}

TEST_F(Flow, SaysThatItGoesOnWhereItWas) {
  sync(60);
  flow.ended(broken("connection refused"), 0);
  EXPECT_EQ(take(), "!connection refused");
  resume("60");
  EXPECT_EQ(take(), "") << "the look alone says nothing of the watch";
  flow.opened();
  EXPECT_EQ(take(), "SYNCED");
  EXPECT_EQ(last, R"({"metadata":{"resourceVersion":"60"}})");
  flow.opened();
  bookmark(61, false);
  EXPECT_EQ(take(), "") << "once";
}

// What it missed may still be on its way behind the first event.
TEST_F(Flow, AnEventThatComesAtOnceTakesNothingOfThatAway) {
  sync(60);
  flow.ended(broken("connection refused"), 0);
  resume("60");
  event("ADDED", "a", 61);
  EXPECT_EQ(take(), "!connection refused, +a");
  flow.opened();
  EXPECT_EQ(take(), "SYNCED");
  EXPECT_EQ(last, R"({"metadata":{"resourceVersion":"61"}})");
}

TEST_F(Flow, TheReasonOfAnErrorIsToldWhateverCharactersItHas) {
  sync(60);
  flow.data(
      R"({"type":"ERROR","object":{"kind":"Status","code":403,"message":"pods is forbidden: User \"a\u003cb\""}})"
      "\n");
  EXPECT_EQ(take(), R"(NO the watch ended with an error: pods is forbidden: User "a<b")");
}

TEST_F(Flow, AnErrorSaysHowLongToWait) {
  sync(60);
  flow.data(
      R"({"type":"ERROR","object":{"kind":"Status","code":429,"details":{"retryAfterSeconds":17}}})"
      "\n");
  EXPECT_EQ(take(), "!the watch ended with an error: no message");
  EXPECT_EQ(flow.ended(http(200), 0), milliseconds(17'000));
}

TEST_F(Flow, ABookmarkSaysThatItGoesOn) {
  sync(60);
  flow.ended(broken("connection refused"), 0);
  resume("60");
  bookmark(61, false);
  EXPECT_EQ(take(), "!connection refused, SYNCED");
  EXPECT_EQ(last, R"({"metadata":{"resourceVersion":"61"}})");
}

TEST_F(Flow, AFirstPictureThatIsOnItsWayIsNotYetThere) {
  flow.next(0);
  flow.ended(broken("connection refused"), 0);
  flow.next(0);
  flow.opened();
  EXPECT_EQ(take(), "!connection refused");
}

class FlowOfPolicies : public Flow {
 protected:
  FlowOfPolicies() : Flow(policies(), "/apis/cilium.io/v2/ciliumnetworkpolicies") {}
  static cluster::WatchRequest policies() {
    cluster::WatchRequest q;
    q.resource = {"cilium.io", "v2", "ciliumnetworkpolicies"};
    return q;
  }
  // The API server puts its id of the request on every answer.
  static Outcome not_found() {
    return http(404, "404 page not found\n",
                {{"audit-id", "0d7e58fc-2c21-4ee1-a1dc-1f2dd6ba1c0e"}});
  }
};

// The definition is there. What does not know it is something in between, and the objects are
// where they were.
TEST_F(FlowOfPolicies, A404ThatTheApiServerDidNotSendIsRefusedNotEmpty) {
  flow.next(0);
  bookmark(5, true);
  EXPECT_EQ(take(), "RESTART, SYNCED");
  for (const char* body : {"404 page not found\n", "<html>no such site</html>"}) {
    flow.next(0);
    EXPECT_TRUE(flow.is_refused(http(404, body)));
    flow.ended(http(404, body), 0);
  }
  EXPECT_EQ(take(), "NO 404: the API server did not send this: is a proxy in between?") << "once";
  EXPECT_EQ(flow.resource_version(), "5") << "it goes on where it was";
}

// A CustomResourceDefinition that is not installed: whoever waits for what there is need not wait
// for ever.
TEST_F(FlowOfPolicies, OfAResourceThatIsNotThereThereIsNothing) {
  const std::string trouble =
      "!the API server knows no such resource: is its definition installed?";
  flow.next(0);
  EXPECT_GT(flow.ended(not_found(), 0), milliseconds(0));
  EXPECT_EQ(take(), trouble + ", RESTART, SYNCED");
  flow.next(0);
  flow.ended(not_found(), 0);
  EXPECT_EQ(take(), "") << "it was said";
  flow.next(0);
  bookmark(5, true);
  EXPECT_EQ(take(), "RESTART, SYNCED");
  flow.ended(not_found(), 0);
  EXPECT_EQ(take(), trouble + ", RESTART, SYNCED") << "gone again, and all of it";
  flow.next(0);
  flow.ended(broken("connection refused"), 0);
  flow.next(0);
  flow.ended(not_found(), 0);
  EXPECT_EQ(take(), "!connection refused, " + trouble + ", RESTART, SYNCED")
      << "whoever was cut off knows again that there is nothing";
}

}  // namespace
}  // namespace davit::cluster_kubernetes
