// The limit against a model of a server: so many workers, a service time with or without noise, a
// queue, and 429 above it. Nothing runs in real time.
#include "controller/concurrency_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>

namespace davit::controller {
namespace {

using namespace std::chrono_literals;
using Time = ConcurrencyLimit::Time;

Time of_ms(double ms) {
  return Time(static_cast<int64_t>(ms * 1e6));
}

struct Server {
  size_t workers = 4;
  double service_ms = 10;  // median
  double sigma = 0;        // of its logarithm: 0.85 makes the 99th percentile 7 times the median
  size_t queue_max = 1000;
  bool away = false;
  // In a second, when everybody sends as much as it takes.
  double capacity() const {
    return static_cast<double>(workers) * 1000 / (service_ms * std::exp(sigma * sigma / 2));
  }
};

// A client that sends whatever the limit allows, or `demand` at once if that is less.
class Simulation {
 public:
  explicit Simulation(const Server& s, size_t most = 64) : server(s), limit(most) {}

  // Returns the answers a second.
  double run(Time length, size_t demand = SIZE_MAX) {
    const Time end = now + length;
    const size_t before = answered;
    while (true) {
      const Time due = answers_.empty() ? Time::max() : answers_.top().at;
      const size_t allowed = std::min(limit.value(), demand);
      if (answers_.size() < allowed && limit.paused_until() < std::min(due, end)) {
        now = std::max(now, limit.paused_until());
        send();
      } else if (due < end) {
        now = due;
        take();
      } else {
        break;
      }
    }
    now = end;
    return static_cast<double>(answered - before) * 1e9 / static_cast<double>(length.count());
  }

  Server server;
  ConcurrencyLimit limit;
  Time now{1s};
  size_t answered = 0, refused = 0, unanswered = 0;

 private:
  enum class How { fine, refused, unanswered };
  struct Answer {
    Time at, sent;
    size_t under_way;
    How how;
    bool operator>(const Answer& o) const { return at > o.at; }
  };

  void send() {
    const size_t under_way = answers_.size() + 1;
    if (server.away) {
      answers_.push({now + 5s, now, under_way, How::unanswered});
    } else if (answers_.size() >= server.workers + server.queue_max) {
      answers_.push({now + 1ms, now, under_way, How::refused});
    } else {
      free_.resize(server.workers, Time{0});
      const auto worker = std::min_element(free_.begin(), free_.end());
      std::lognormal_distribution<double> service(std::log(server.service_ms), server.sigma);
      *worker = std::max(*worker, now) + of_ms(service(random_));
      answers_.push({*worker, now, under_way, How::fine});
    }
  }
  void take() {
    const Answer a = answers_.top();
    answers_.pop();
    if (a.how == How::fine) {
      ++answered;
      limit.answered("apply", now - a.sent, a.under_way, now);
    } else {
      ++(a.how == How::refused ? refused : unanswered);
      limit.overloaded(a.sent, a.how == How::refused ? Time(1s) : Time{0}, now);
    }
  }

  std::mt19937_64 random_{7};
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> answers_;
  std::vector<Time> free_;  // when each worker will be
};

struct Row {
  const char* name;
  Server server;
  size_t most_allowed;  // afterwards, having known the server under light load
};

const Row rows[] = {
    {"OneWorker", {1, 10, 0}, 16},
    {"OneNoisyWorker", {1, 10, 0.85}, 16},
    {"FourWorkers", {4, 10, 0}, 20},
    {"FourNoisyWorkers", {4, 10, 0.85}, 20},
    {"SixteenWorkers", {16, 3, 0}, 64},
    {"SixteenNoisyWorkers", {16, 3, 0.85}, 64},
    {"FortyNoisyWorkers", {40, 100, 0.85}, 64},
    {"VeryNoisyWorkers", {8, 5, 1.3}, 40},
};

class ConcurrencyLimits : public ::testing::TestWithParam<Row> {};

TEST_P(ConcurrencyLimits, KeepTheServerBusyFromAColdStart) {
  Simulation s(GetParam().server);
  s.run(10s);
  EXPECT_GT(s.run(120s), 0.9 * s.server.capacity()) << s.limit.value();
}

TEST_P(ConcurrencyLimits, KeepTheServerBusyWithAShortQueueOnceLightLoadIsKnown) {
  Simulation s(GetParam().server);
  s.run(60s, 1);
  s.run(30s);
  EXPECT_GT(s.run(120s), 0.9 * s.server.capacity()) << s.limit.value();
  EXPECT_LE(s.limit.value(), GetParam().most_allowed);
}

TEST_P(ConcurrencyLimits, ComeBackAfterAnOutage) {
  Simulation s(GetParam().server);
  s.run(60s);
  s.server.away = true;
  s.run(60s);
  EXPECT_EQ(s.limit.value(), 1u);
  EXPECT_LT(s.unanswered, 2 * 64u + 60u / 5) << "halves, and then one request a time-out";
  s.server.away = false;
  s.run(20s);
  EXPECT_GT(s.run(60s), 0.85 * s.server.capacity()) << s.limit.value();
}

INSTANTIATE_TEST_SUITE_P(Table, ConcurrencyLimits, ::testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ConcurrencyLimit, BeginsWithSixteenOrTheMostThereMayBe) {
  EXPECT_EQ(ConcurrencyLimit(64).value(), 16u);
  EXPECT_EQ(ConcurrencyLimit(3).value(), 3u);
}

TEST(ConcurrencyLimit, GrowsOnlyWhenAllOfItIsInUse) {
  Simulation s({100, 10, 0});
  s.run(60s, 8);
  EXPECT_EQ(s.limit.value(), 16u);
  s.run(60s);
  EXPECT_EQ(s.limit.value(), 64u);
}

TEST(ConcurrencyLimit, FindsWhatAServerRefusesAndSeldomAsksForMore) {
  for (const double sigma : {0.0, 0.85}) {
    Simulation s({8, 10, sigma, 8});
    s.run(10s);
    s.refused = 0;
    EXPECT_GT(s.run(5min), 0.85 * s.server.capacity()) << s.limit.value();
    EXPECT_LT(s.refused, 30u) << "in five minutes";
  }
}

TEST(ConcurrencyLimit, AsksAServerThatRefusesEverythingOnceAPause) {
  Simulation s({4, 10, 0});
  s.run(10s);
  s.server.workers = s.server.queue_max = 0;
  s.run(60s);
  EXPECT_EQ(s.limit.value(), 1u);
  EXPECT_LT(s.refused, 2 * 64u + 60u);
  s.server = {4, 10, 0};
  s.run(10s);
  EXPECT_GT(s.run(60s), 0.9 * s.server.capacity()) << s.limit.value();
}

TEST(ConcurrencyLimit, LearnsThatAServerIsSlowerThanItWas) {
  Simulation s({40, 5, 0.85});
  s.run(60s, 1);
  s.run(60s);
  s.server.service_ms = 100;  // an admission webhook was installed
  s.run(60s);
  EXPECT_EQ(s.limit.value(), 16u) << "it looks like a queue, until there is little to do";
  s.run(60s, 1);
  s.run(60s);
  EXPECT_GT(s.run(120s), 0.9 * s.server.capacity()) << s.limit.value();
}

TEST(ConcurrencyLimit, LatencyAloneNeverStarvesUs) {
  Simulation s({1, 1, 0});
  s.run(60s, 1);
  s.server.service_ms = 1000;
  s.run(10min);
  EXPECT_EQ(s.limit.value(), 16u);
  s.limit.overloaded(s.now, {}, s.now);
  EXPECT_EQ(s.limit.value(), 8u);
  s.run(10min);
  EXPECT_EQ(s.limit.value(), 16u) << "comes back although answers are slow";
}

TEST(ConcurrencyLimit, SurvivesAMachineThatIsBusyWithOtherThingsNowAndThen) {
  Simulation s({40, 5, 0.85});
  s.run(60s, 1);
  double answers = 0, possible = 0;
  for (int i = 0; i < 20; ++i) {
    for (const double slower : {1.0, 8.0}) {
      s.server.service_ms = 5 * slower;
      answers += s.run(10s);
      possible += s.server.capacity();
    }
  }
  EXPECT_GT(answers, 0.85 * possible);
}

TEST(ConcurrencyLimit, ComparesLikeWithLikeOnly) {
  ConcurrencyLimit limit(64);
  Time now{1s};
  const auto burst = [&](const char* like, Time took, size_t under_way) {
    for (int i = 0; i < 200; ++i) limit.answered(like, took, under_way, now += 1ms);
  };
  burst("delete", 1ms, 1);
  burst("create", 50ms, 1);
  burst("create", 50ms, 64);
  const size_t grown = limit.value();
  EXPECT_GT(grown, 16u) << "a create is no slow delete";
  burst("delete", 50ms, 64);
  EXPECT_LT(limit.value(), grown) << "a delete that takes so long is";
}

TEST(ConcurrencyLimit, ShrinksOnceForAllThatWereUnderWayTogether) {
  ConcurrencyLimit limit(64);
  for (int i = 0; i < 16; ++i) limit.overloaded(1s, {}, 1s + i * 1ms);
  EXPECT_EQ(limit.value(), 8u);
  limit.overloaded(2s, {}, 2s);
  EXPECT_EQ(limit.value(), 4u);
  for (int i = 0; i < 10; ++i) limit.overloaded(3s + i * 1s, {}, 3s + i * 1s);
  EXPECT_EQ(limit.value(), 1u);
}

TEST(ConcurrencyLimit, PausesAsLongAsItIsAskedButNotForAnHour) {
  ConcurrencyLimit limit(64);
  EXPECT_EQ(limit.paused_until(), Time{0});
  limit.overloaded(1s, 2s, 10s);
  EXPECT_EQ(limit.paused_until(), Time(12s));
  limit.overloaded(1s, 1s, 10s);
  EXPECT_EQ(limit.paused_until(), Time(12s)) << "the longest counts";
  limit.overloaded(11s, 1h, 20s);
  EXPECT_EQ(limit.paused_until(), Time(50s));
}

}  // namespace
}  // namespace davit::controller
