#include "flow.hpp"

namespace davit::cluster_kubernetes {
namespace {

TEST_F(Flow, StreamingListThenChanges) {
  const auto step = flow.next(7);
  EXPECT_TRUE(step.stream);
  EXPECT_EQ(
      step.path,
      "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=307&sendInitialEvents=true&"
      "resourceVersionMatch=NotOlderThan");
  event("ADDED", "a", 50);
  event("ADDED", "b", 3);
  bookmark(60, true);
  EXPECT_EQ(take(), "RESTART, +a, +b, SYNCED");
  event("MODIFIED", "a", 61);
  event("DELETED", "b", 62);
  EXPECT_EQ(take(), "*a, -b");
  EXPECT_EQ(last,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","resourceVersion":"62"}})");
  EXPECT_EQ(flow.resource_version(), "62");
}

TEST_F(Flow, ContinuesWhereItWasAndTellsNobody) {
  sync(60);
  event("ADDED", "a", 61);
  take();
  EXPECT_EQ(flow.ended(http(200), 0), milliseconds(0));  // the server's time was over
  EXPECT_EQ(resume("61").path,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=61");
  EXPECT_EQ(take(), "");
}

// A watch from a version that is not there yet says nothing until it is.
TEST_F(Flow, AHistoryThatIsShorterThanItWasMeansAllOverAgain) {
  sync(60);
  flow.ended(http(200), 0);
  EXPECT_NE(resume("59").path.find("sendInitialEvents"), std::string::npos);
  event("ADDED", "a", 41);
  bookmark(59, true);
  EXPECT_EQ(take(), "RESTART, +a, SYNCED");
  flow.ended(broken("reset", 200), 0);
  EXPECT_NE(resume("59").path.find("&resourceVersion=59"), std::string::npos);
}

TEST_F(Flow, VersionsThatAreNoNumbersAreNotCompared) {
  sync(60);
  flow.ended(http(200), 0);
  EXPECT_NE(resume("5x").path.find("&resourceVersion=60"), std::string::npos);
}

TEST_F(Flow, WithoutAnAnswerToItsLookItLooksAgain) {
  sync(60);
  flow.ended(http(200), 0);
  flow.next(0);
  EXPECT_GT(flow.ended(broken("connection refused"), 0), milliseconds(0));
  EXPECT_EQ(take(), "!connection refused");
  flow.next(0);
  EXPECT_GT(flow.ended(http(200, "{}"), 0), milliseconds(0));
  EXPECT_EQ(take(), "!the API server answered with something that is no list");
  EXPECT_NE(resume("60").path.find("&resourceVersion=60"), std::string::npos);
}

TEST_F(Flow, BookmarksMoveTheVersion) {
  sync(60);
  bookmark(99, false);
  EXPECT_EQ(flow.resource_version(), "99");
  EXPECT_EQ(take(), "");
}

TEST_F(Flow, AnInterruptedBeginningBeginsAnew) {
  flow.next(0);
  event("ADDED", "a", 5);
  EXPECT_EQ(take(), "RESTART, +a");
  EXPECT_GT(flow.ended(broken("reset", 200), 0), milliseconds(0));
  EXPECT_NE(flow.next(0).path.find("sendInitialEvents"), std::string::npos);
  event("ADDED", "b", 6);
  bookmark(9, true);
  EXPECT_EQ(take(), "RESTART, +b, SYNCED");
}

TEST_F(Flow, FallsBackToPagesOfAList) {
  flow.next(0);
  EXPECT_EQ(
      flow.ended(http(422, R"({"kind":"Status","message":"sendInitialEvents is forbidden"})"), 0),
      milliseconds(0));
  auto step = flow.next(0);
  EXPECT_FALSE(step.stream);
  EXPECT_EQ(step.path, "/api/v1/pods?limit=500");
  EXPECT_EQ(
      flow.ended(
          http(
              200,
              R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"tok="},
      "items":[{"metadata":{"name":"a"}},{"kind":"Pod","metadata":{"name":"b"}}]})"),
          0),
      milliseconds(0));
  EXPECT_EQ(take(), "RESTART, +a, +b");
  EXPECT_EQ(flow.next(0).path, "/api/v1/pods?limit=500&continue=tok%3D");
  flow.ended(http(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},
      "items":[{"metadata":{"name":"c"}}]})"),
             0);
  EXPECT_EQ(take(), "+c, SYNCED");
  EXPECT_EQ(flow.next(0).path,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7");
}

TEST_F(Flow, ItemsOfAListSayWhatTheyAre) {
  flow.next(0);
  flow.ended(http(400), 0);
  flow.next(0);
  flow.ended(
      http(
          200,
          R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"c"}}]})"),
      0);
  flow.take();
  EXPECT_EQ(flow.take()->object, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"c"}})");
}

TEST_F(Flow, AListOfThingsThatAreNoObjectsIsNoList) {
  flow.next(0);
  flow.ended(http(400), 0);
  const auto path = flow.next(0).path;
  const auto wait = flow.ended(
      http(200, R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"c"}},7]})"),
      0);
  EXPECT_GT(wait, milliseconds(0));
  EXPECT_EQ(take(), "!the API server answered with something that is no list");
  EXPECT_EQ(flow.next(0).path, path) << "asked again: half a list would look like deletions";
}

TEST_F(Flow, AnExpiredPageTokenBeginsAnew) {
  flow.next(0);
  flow.ended(http(400), 0);
  flow.next(0);
  flow.ended(
      http(
          200,
          R"({"kind":"PodList","metadata":{"resourceVersion":"7","continue":"t"},"items":[{"metadata":{"name":"a"}}]})"),
      0);
  flow.next(0);
  flow.ended(http(410), 0);
  EXPECT_EQ(flow.next(0).path, "/api/v1/pods?limit=500");
  flow.ended(http(200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]})"), 0);
  EXPECT_EQ(take(), "RESTART, +a, RESTART, SYNCED");
}

TEST_F(Flow, GoneAsAnEventMeansAllOverAgain) {
  sync(60);
  flow.data(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}})"
      "\n");
  flow.ended(http(200), 0);
  EXPECT_NE(flow.next(0).path.find("sendInitialEvents"), std::string::npos);
  bookmark(80, true);
  EXPECT_EQ(take(), "RESTART, SYNCED");
}

TEST_F(Flow, GoneAsAStatusMeansAllOverAgain) {
  WatchFlow old(request("3"), "/api/v1/pods", {});
  EXPECT_NE(old.next(0).path.find("resourceVersion=3"), std::string::npos);
  old.ended(http(410), 0);
  EXPECT_NE(old.next(0).path.find("sendInitialEvents"), std::string::npos);
}

TEST_F(Flow, TroubleIsSaidOnceAndWaitsGrow) {
  flow.next(0);
  milliseconds before{0};
  for (int i = 0; i < 10; ++i) {
    const auto wait = flow.ended(broken("connection refused"), UINT64_MAX);
    EXPECT_GE(wait, before / 2);
    EXPECT_LE(wait, milliseconds(5'000));
    before = wait;
    flow.next(0);
  }
  EXPECT_GE(before, milliseconds(2'500));
  EXPECT_EQ(take(), "!connection refused");
  bookmark(5, true);
  take();
  flow.ended(broken("reset", 200), 0);  // it worked and broke off: nothing to say
  flow.next(0);
  flow.ended(broken("connection refused"), 0);
  EXPECT_EQ(take(), "!connection refused");
}

// Whoever hears of an object takes the trouble for over.
TEST_F(Flow, TheSameTroubleIsSaidAgainWhenAnObjectWasShownInBetween) {
  flow.next(0);
  bookmark(5, true);
  take();
  flow.ended(broken("connection refused"), 0);
  EXPECT_EQ(take(), "!connection refused");
  flow.next(0);
  event("ADDED", "a", 6);
  flow.ended(broken("reset", 200), 0);
  EXPECT_EQ(take(), "+a") << "it worked and broke off: nothing to say";
  for (int i = 0; i < 3; ++i) {
    flow.next(0);
    flow.ended(broken("connection refused"), 0);
  }
  EXPECT_EQ(take(), "!connection refused");
}

TEST_F(Flow, WaitsAsLongAsTheServerAsks) {
  flow.next(0);
  EXPECT_EQ(flow.ended(http(429, "", {{"retry-after", "17"}}), 0), milliseconds(17'000));
}

TEST_F(Flow, ErrorsAndNonsenseOfAServerAreTroubleNotTheEnd) {
  sync(60);
  flow.data("this is not json\n");
  flow.data(R"({"type":"ADDED","object":7})"
            "\n");
  flow.data(R"({"type":"NEW","object":{}})"
            "\n");
  event("ADDED", "a", 61);
  EXPECT_EQ(take(), "!the API server sent a line that is no watch event, +a");
  flow.data(
      R"({"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd has a bad day"}})"
      "\n");
  EXPECT_EQ(take(), "!the watch ended with an error: etcd has a bad day");
  EXPECT_GT(flow.ended(http(200), 0), milliseconds(0));
  EXPECT_NE(resume("61").path.find("resourceVersion=61"), std::string::npos);
}

TEST_F(Flow, RefusalsOfTheSelectorAreTold) {
  flow.next(0);
  flow.ended(http(400, R"({"kind":"Status","message":"unable to parse requirement"})"), 0);
  flow.next(0);
  flow.ended(http(400, R"({"kind":"Status","message":"unable to parse requirement"})"), 0);
  EXPECT_EQ(take(), "NO 400: unable to parse requirement");
}

TEST_F(Flow, AHugeEventIsLeftOutAndSaid) {
  WatchFlow small(request("1"), "/api/v1/pods", {true, 100, {}});
  small.grant(10);
  small.next(0);
  small.data(R"({"type":"ADDED","object":{"a":")" + std::string(500, 'x') +
             "\"}}\n"
             R"({"type":"ADDED","object":{}})"
             "\n");
  EXPECT_EQ(small.take()->object, "an event of more than 100 bytes was left out (event_bytes_max)");
  EXPECT_EQ(small.take()->type, DAVIT_WATCH_ADDED);
}

TEST_F(Flow, NothingComesWithoutCredit) {
  WatchFlow poor(request(), "/api/v1/pods", {});
  poor.next(0);
  poor.data(R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})"
            "\n");
  EXPECT_FALSE(poor.take());
  EXPECT_GT(poor.waiting_bytes(), 0u);
  poor.grant(1);
  EXPECT_EQ(poor.take()->type, DAVIT_WATCH_RESTART);
  EXPECT_FALSE(poor.take());
  poor.grant(UINT32_MAX);
  poor.grant(UINT32_MAX);
  EXPECT_EQ(poor.take()->type, DAVIT_WATCH_ADDED);
  EXPECT_EQ(poor.waiting_bytes(), 0u);
}

TEST_F(Flow, SelectorsAndMetadataOnlyAreAskedFor) {
  WatchFlow f(request("", "app in (a,b)", true), "/api/v1/pods", {});
  const auto step = f.next(0);
  EXPECT_NE(step.path.find("labelSelector=app%20in%20%28a%2Cb%29"), std::string::npos);
  EXPECT_EQ(step.accept, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
}

}  // namespace
}  // namespace davit::cluster_kubernetes
