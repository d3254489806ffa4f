// Federation as it is loaded, while something is away, refuses or is wrong.
#include "world.hpp"

namespace davit::federation::test {
namespace {

TEST(FederationTrouble, TheRobotIsAwayForAnHour) {
  World w;
  w.cloud.make("a", 1);
  w.cloud.make("gone", 1);
  w.wait();
  const size_t before = w.robot.writes();
  w.robot.leave();
  for (int x = 2; x <= 11; ++x) {
    w.cloud.set("a", x);
    w.wait(6min);
  }
  w.cloud.remove("gone");
  EXPECT_TRUE(w.cloud.get("gone").is_null()) << "upstream waits for nobody";
  EXPECT_LE(w.robot.writes() - before, 160u) << "two a minute at most";
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  const size_t away = w.robot.writes();
  w.robot.come_back();
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "11");
  EXPECT_TRUE(w.robot.get("gone").is_null());
  EXPECT_EQ(w.robot.writes() - away, 2u) << "ten changes are one write";
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationTrouble, TheCloudIsAwayForAnHour) {
  World w;
  w.cloud.make("a", 1);
  w.cloud.make("gone", 1);
  w.wait();
  w.cloud.leave();
  w.cloud.remove("gone");
  w.robot.remove("a");
  for (int i = 0; i < 10; ++i) {
    w.wait(6min);
    if (i > 0) w.robot.report("a", std::to_string(i));
  }
  EXPECT_EQ(w.robot.spec("a"), "1") << "it is made again of what is known";
  EXPECT_EQ(w.robot.spec("gone"), "1") << "nothing is deleted by what is not known";
  const size_t before = w.cloud.writes();
  w.cloud.come_back();
  w.wait();
  EXPECT_EQ(w.cloud.status("a"), "9");
  EXPECT_EQ(w.cloud.writes() - before, 1u);
  EXPECT_TRUE(w.robot.get("gone").is_null());
}

class Resumed : public ::testing::TestWithParam<bool> {};

TEST_P(Resumed, WhatAWatchHasMissedIsOneWriteForEachObject) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  const size_t before = w.robot.writes();
  w.cloud.front->stop_showing("robots", DAVIT_WATCH_TROUBLE, "connection refused");
  std::vector<std::string> missed;
  for (int x = 2; x <= 11; ++x) {
    w.cloud.set("a", x);
    missed.push_back(json::serialize(w.cloud.get("a")));
  }
  // It goes on where it was: no list, but each event that it has missed.
  // It may say so itself, or the first event does.
  if (GetParam())
    w.cloud.front->say("robots", DAVIT_WATCH_SYNCED, R"({"metadata":{"resourceVersion":"1"}})");
  for (const std::string& object : missed) {
    w.cloud.front->say("robots", DAVIT_WATCH_MODIFIED, object);
    w.wait(10ms);
  }
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "11");
  EXPECT_EQ(w.robot.writes() - before, 1u);
}

INSTANTIATE_TEST_SUITE_P(FederationTrouble, Resumed, ::testing::Bool());

TEST(FederationTrouble, B1NothingIsDeletedForACloudThatLacksTheResource) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.stop();
  w.cloud.front->stop_showing("robots", DAVIT_WATCH_RESTART, "{}");
  w.start();
  w.cloud.front->say("robots", DAVIT_WATCH_SYNCED, R"({"metadata":{}})");
  w.wait(1h);
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_NE(w.host().health_reason().find("not installed"), std::string::npos)
      << w.host().health_reason();
}

TEST(FederationTrouble, GoesOnAfterARestart) {
  World w;
  w.cloud.make("a", 1);
  w.cloud.make("gone", 1);
  w.wait();
  w.robot.report("a", "ready");
  w.wait();
  const size_t writes = w.cloud.writes() + w.robot.writes();
  w.stop();
  w.start();
  w.wait();
  EXPECT_EQ(w.cloud.writes() + w.robot.writes(), writes) << "it finds all as it should be";
  w.stop();
  w.cloud.remove("gone");
  w.cloud.set("a", 2);
  w.start();
  w.wait();
  EXPECT_TRUE(w.robot.get("gone").is_null());
  EXPECT_EQ(w.robot.spec("a"), "2");
}

TEST(FederationTrouble, WhatIsRefusedIsSaidAndOthersGoOn) {
  World w;
  w.robot.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.body.find("\"x\":666") == std::string::npos) return std::nullopt;
    return refusal(422, "Invalid", "spec.x: must be good");
  };
  w.cloud.make("good", 1);
  w.cloud.make("bad", 1);
  w.wait();
  w.robot.report("bad", "first");
  w.cloud.set("bad", 666);
  w.wait();
  w.cloud.set("good", 2);
  w.robot.report("bad", "second");
  w.wait();
  EXPECT_EQ(w.robot.spec("good"), "2");
  EXPECT_EQ(w.robot.spec("bad"), "1");
  EXPECT_EQ(w.cloud.status("bad"), "second") << "what runs is told";
  EXPECT_NE(w.host().health_reason().find("must be good"), std::string::npos)
      << w.host().health_reason();
  const size_t before = w.robot.writes();
  w.wait(10min);
  EXPECT_LE(w.robot.writes() - before, 21u);
  EXPECT_GE(w.robot.writes() - before, 10u) << "its schema may have changed";
  w.cloud.set("bad", 3);
  w.wait(1s);
  EXPECT_EQ(w.robot.spec("bad"), "3") << "the cure is not waited with";
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
  size_t lines = 0;
  for (const auto& line : w.host().log())
    lines += line.text().find("must be good") != line.text().npos;
  EXPECT_EQ(lines, 1u);
}

TEST(FederationTrouble, B6AMissingRightIsAskedForByOneObjectAtATime) {
  World w;
  for (int i = 0; i < 30; ++i) w.cloud.make("a" + std::to_string(i), i);
  w.wait();
  w.cloud.front->policy = [](const cluster::Request&) {
    return std::optional(refusal(403, "Forbidden", "no"));
  };
  for (int i = 0; i < 30; ++i) w.robot.report("a" + std::to_string(i), "ready");
  w.wait(1h);
  EXPECT_LE(w.cloud.writes(), 300u) << "and not 30 times as many";
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_DEGRADED);
  w.cloud.front->policy = nullptr;
  w.wait(2min);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(w.cloud.status("a" + std::to_string(i)), "ready");
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

TEST(FederationTrouble, TwoWhoFightKeepNoClusterBusy) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  w.robot.report("a", "ours");
  w.wait();
  const size_t down = w.robot.writes(), up = w.cloud.writes();
  for (int i = 0; i < 600; ++i) {
    w.robot.set("a", 9);
    w.cloud.report("a", "theirs");
    w.wait(1s);
  }
  EXPECT_LE(w.robot.writes() - down, 60u);
  EXPECT_LE(w.cloud.writes() - up, 60u);
  EXPECT_GE(w.robot.writes() - down, 20u);
  w.wait(1min);
  EXPECT_EQ(w.robot.spec("a"), "1");
  EXPECT_EQ(w.cloud.status("a"), "ours");
}

TEST(FederationTrouble, WhatWasRelabelledAndThenDeletedDownstreamIsMadeAgain) {
  World w(filtered);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  w.robot.front->hangs = [](const cluster::Request& q) { return q.verb == DAVIT_VERB_UPDATE; };
  w.robot.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"r2"}}})");
  w.wait(1s);
  w.robot.remove("a");  // the request that puts the label back is under way
  w.robot.front->release();
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(FederationTrouble, WhatWasRelabelledAndIsOfAFormerObjectIsMadeAnewAtOnce) {
  World w(filtered);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  w.stop();
  w.robot.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"r2"}}})");
  w.cloud.remove("a");
  w.cloud.make("a", 2, for_r1);
  w.start();
  w.wait(5s);
  EXPECT_EQ(w.robot.spec("a"), "2");
}

bool is_create(const cluster::Request& q) {
  return q.verb == DAVIT_VERB_CREATE;
}

TEST(FederationTrouble, WhatIsDeletedBeforeAnyWatchHasShownItIsMadeAgain) {
  World w;
  w.robot.front->hangs = is_create;
  w.cloud.make("a", 1);
  w.wait(1s);
  w.robot.front->stop_showing("robots", DAVIT_WATCH_TROUBLE, "connection refused");
  w.robot.front->release();
  w.wait(1s);
  w.robot.remove("a");
  w.robot.front->show("robots");  // it lists anew, and there is nothing
  w.wait(1min);
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(FederationTrouble, WhatWasReadByItsNameAndThenDeletedIsMadeAgain) {
  World w;
  // Its watch is late, and says nothing of it.
  w.robot.front->stop_showing("robots", DAVIT_WATCH_SYNCED,
                              R"({"metadata":{"resourceVersion":"1"}})");
  w.robot.front->hangs = is_create;
  w.cloud.make("a", 1);
  w.wait(1s);
  // As if the answer to an earlier create had been lost.
  w.robot.make("a", 1, R"("annotations":{"davit.dev/upstream-uid":")" + w.cloud.uid("a") + "\"}");
  w.robot.front->release();
  w.wait(1s);
  w.robot.remove("a");
  w.robot.front->show("robots");
  w.wait(1min);
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(FederationTrouble, WhatNoWatchShowsMayHaveGone) {
  World w(filtered);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  w.robot.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_UPDATE) return std::nullopt;
    cluster::Response away;
    away.code = Code::unavailable;
    return away;
  };
  w.robot.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"x"}}})");
  w.wait();
  w.robot.remove("a");
  w.robot.front->policy = nullptr;
  w.wait(2min);
  EXPECT_EQ(w.robot.spec("a"), "1");
}

TEST(FederationTrouble, AFormerThatNoWatchShowsIsMadeAnew) {
  for (const std::string finalizers : {"null", R"(["x/y"])"}) {
    World w(filtered);
    w.cloud.make("a", 1, for_r1);
    w.wait();
    w.robot.front->policy = [](const cluster::Request&) {
      cluster::Response away;
      away.code = Code::unavailable;
      return std::optional(away);
    };
    w.robot.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"x"},)"
                      R"("finalizers":)" +
                          finalizers + "}}");
    w.cloud.remove("a");
    w.cloud.make("a", 2, for_r1);
    w.wait();
    w.robot.front->policy = nullptr;
    w.wait(2min);
    if (finalizers != "null") {
      EXPECT_EQ(w.robot.spec("a"), "1");
      w.robot.edit("a", R"({"metadata":{"finalizers":null}})");
      w.wait(1min);
    }
    EXPECT_EQ(w.robot.spec("a"), "2");
    w.cloud.set("a", 3);
    w.wait();
    EXPECT_EQ(w.robot.spec("a"), "3");
  }
}

TEST(FederationTrouble, NoStatusForAnObjectThatHasBecomeAnotherRobots) {
  World w(filtered);
  w.cloud.make("a", 1, for_r1);
  w.wait();
  w.cloud.front->stop_showing("robots", DAVIT_WATCH_TROUBLE, "cut");
  w.cloud.edit("a", R"({"metadata":{"labels":{"cloudrobotics.com/robot-name":"r2"}}})");
  w.robot.report("a", "of r1");
  w.wait(1min);
  EXPECT_EQ(w.cloud.status("a"), "") << "after the conflict it was read, and has another label";
  w.cloud.front->show("robots");
  w.wait();
  EXPECT_TRUE(w.robot.get("a").is_null());
}

TEST(FederationTrouble, AConflictReadsAnew) {
  World w;
  w.cloud.make("a", 1);
  w.wait();
  size_t conflicts = 0;
  w.robot.front->policy = [&](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.verb != DAVIT_VERB_UPDATE || conflicts++ > 0) return std::nullopt;
    auto r = refusal(409, "Conflict", "the object has been modified");
    r.code = Code::aborted;
    return r;
  };
  w.cloud.set("a", 2);
  w.wait();
  EXPECT_EQ(w.robot.spec("a"), "2");
  EXPECT_EQ(w.robot.front->sent["get robots"], 1u);
}

// What a server answers to an object that is too large for it.
TEST(FederationTrouble, AnObjectThatIsTooLargeIsSaidAndOthersGoOn) {
  World w;
  w.robot.front->policy = [](const cluster::Request& q) -> std::optional<cluster::Response> {
    if (q.body.size() < 1'000'000) return std::nullopt;
    return refusal(413, "RequestEntityTooLarge", "the request is too large");
  };
  const std::string text(1 << 20, 'x');
  w.cloud.make("large", 1, R"("annotations":{"text":")" + text + "\"}");
  w.cloud.make("small", 1);
  w.wait();
  EXPECT_EQ(w.robot.spec("small"), "1");
  EXPECT_TRUE(w.robot.get("large").is_null());
  EXPECT_NE(w.host().health_reason().find("too large"), std::string::npos)
      << w.host().health_reason();
  w.robot.front->policy = nullptr;
  w.wait(2min);
  EXPECT_EQ(w.robot.at("large", "/metadata/annotations/text"), text);
  EXPECT_EQ(w.host().health(), DAVIT_HEALTH_SERVING) << w.host().health_reason();
}

}  // namespace
}  // namespace davit::federation::test
