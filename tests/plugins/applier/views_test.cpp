// A kind that watches its things and their pods, and ensures a namespace, which it does not watch.
#include "views.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {
using namespace std::chrono_literals;

constexpr size_t of_namespaces = 0, of_things = 1, of_pods = 2;

Sight::Moment moment_at(std::chrono::seconds at) {
  return {at, 1'700'000'000'000 + at.count() * 1000};
}

class ViewsTest : public ::testing::Test {
 protected:
  ViewsTest() { views.begin(moment_at(0s)); }
  static std::vector<kind::Resource> resources() {
    std::vector<kind::Resource> out(3);
    out[of_things].selector = out[of_pods].selector = "davit.dev/region=eu";
    return out;
  }
  void see_all() {
    views.of(of_things).synced();
    views.of(of_pods).synced();
    views.look();
  }
  Views views{resources(), 30s};
};

TEST_F(ViewsTest, AreCompleteWhenAllThatIsWatchedIsSeen) {
  EXPECT_FALSE(views.complete());
  views.of(of_things).synced();
  auto news = views.look();
  EXPECT_EQ(news.trust, std::vector<size_t>{of_things});
  EXPECT_TRUE(news.gained);
  EXPECT_FALSE(news.all);
  EXPECT_TRUE(views.sees({of_things}));
  EXPECT_FALSE(views.sees({of_things, of_pods}));
  EXPECT_EQ(views.coverage(), (std::vector{Coverage::none, Coverage::complete, Coverage::begun}));
  views.of(of_pods).synced();
  news = views.look();
  EXPECT_TRUE(news.all);
  EXPECT_TRUE(views.complete());
  EXPECT_FALSE(views.look().gained) << "nothing is new";
}

TEST_F(ViewsTest, SayOnceThatTheAgentIsBlind) {
  see_all();
  views.of(of_pods).refused("403", moment_at(5s));
  auto news = views.look();
  ASSERT_EQ(news.blindness.size(), 1u);
  EXPECT_EQ(news.blindness[0].resource, of_pods);
  EXPECT_TRUE(news.blindness[0].began);
  EXPECT_FALSE(news.gained);
  EXPECT_NE(views.reason(of_pods), "");
  EXPECT_EQ(views.blind(), of_pods);
  EXPECT_TRUE(views.look().blindness.empty());
  views.of(of_pods).refused("401", moment_at(6s));
  news = views.look();
  ASSERT_EQ(news.blindness.size(), 1u);
  EXPECT_FALSE(news.blindness[0].began) << "another reason";
  views.of(of_pods).synced();
  news = views.look();
  ASSERT_EQ(news.blindness.size(), 1u);
  EXPECT_FALSE(news.blindness[0].began);
  EXPECT_EQ(views.reason(of_pods), "");
  EXPECT_TRUE(news.all);
}

TEST_F(ViewsTest, GainAllOnlyWhenOneWasLost) {
  see_all();
  views.of(of_things).cut("reset", moment_at(5s));
  views.of(of_things).event();
  EXPECT_FALSE(views.look().all) << "a short cut loses nothing";
}

TEST_F(ViewsTest, AreNotBlindForWhatIsNotWatched) {
  see_all();
  views.expire(40s);
  EXPECT_EQ(views.blind(), std::nullopt);
  EXPECT_FALSE(views.trusted(of_namespaces)) << "it is never relied on";
  EXPECT_TRUE(views.look().blindness.empty());
  EXPECT_EQ(views.due(), std::nullopt);
}

TEST_F(ViewsTest, SayWhenPatienceEnds) {
  see_all();
  views.of(of_things).cut("reset", moment_at(7s));
  views.of(of_pods).cut("reset", moment_at(5s));
  EXPECT_EQ(views.due(), 35s);
  views.expire(35s);
  EXPECT_EQ(views.blind(), of_pods);
  EXPECT_EQ(views.due(), 37s);
}

}  // namespace
}  // namespace davit::applier
