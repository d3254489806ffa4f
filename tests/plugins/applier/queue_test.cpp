// Stories: one command a line; keys are numbers, times milliseconds.
#include "queue.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace davit::applier {
namespace {

std::string tell(const std::string& story) {
  Queue queue;
  std::istringstream in(story);
  std::string line, out;
  const auto ms = [](int64_t n) { return std::chrono::milliseconds(n); };
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string command;
    uint64_t key = 0;
    int64_t at = 0;
    words >> command;
    if (command == "change" || command == "repair" || command == "resync") {
      words >> key >> at;
      queue.add(key,
                command == "change"   ? Band::change
                : command == "repair" ? Band::repair
                                      : Band::resync,
                ms(at));
    } else if (command == "take") {
      words >> at;
      const auto taken = queue.take(ms(at));
      out += taken ? std::to_string(*taken) + " " : "- ";
    } else if (command == "done") {
      words >> key >> at;
      queue.done(key, ms(at));
    } else if (command == "retry") {
      words >> key >> at;
      queue.retry(key, ms(at));
    } else if (command == "aside") {
      words >> key;
      queue.put_aside(key);
    } else if (command == "forget") {
      words >> key;
      queue.forget(key);
    } else if (command == "hasten") {
      words >> at;
      queue.hasten(ms(at));
    } else if (command == "due") {
      const auto due = queue.next_due();
      out += due ? "due" + std::to_string(due->count() / 1'000'000) + " " : "due- ";
    } else if (!command.empty()) {
      ADD_FAILURE() << "unknown command " << command;
    }
  }
  return out;
}

TEST(Queue, GivesEachKeyOnceHoweverOftenItWasAdded) {
  EXPECT_EQ(tell("change 1 0\nchange 1 0\nrepair 1 0\nchange 2 0\ntake 0\ntake 0\ntake 0\n"),
            "1 2 - ");
}

TEST(Queue, NeverGivesAKeyThatIsOut) {
  EXPECT_EQ(tell("change 1 0\ntake 0\nchange 1 0\ntake 0\ndone 1 0\ntake 0\ntake 0\n"), "1 - 1 - ");
}

TEST(Queue, PutsChangesBeforeRepairsBeforeResync) {
  EXPECT_EQ(tell("resync 1 0\nrepair 2 0\nchange 3 0\ntake 0\ntake 0\ntake 0\n"), "3 2 1 ");
}

std::string many(const std::string& command, int from, int count) {
  std::string out;
  for (int key = from; key < from + count; ++key)
    out += command + " " + std::to_string(key) + " 0\n";
  return out;
}
std::string takes(int count) {
  std::string out;
  while (count-- > 0) out += "take 0\n";
  return out;
}

// A status is told in the repair's band: what runs is to be known during a bootstrap, too.
TEST(Queue, GivesEachBandItsShare) {
  EXPECT_EQ(
      tell(many("change", 100, 20) + many("repair", 200, 20) + many("resync", 300, 20) + takes(14)),
      "100 200 300 101 201 102 202 103 203 104 204 301 105 205 ");
}

TEST(Queue, SavesNothingUpForABandThatDidNotWait) {
  EXPECT_EQ(tell(many("change", 100, 20) + takes(10) + many("repair", 200, 3) + takes(5)),
            "100 101 102 103 104 105 106 107 108 109 110 200 111 201 112 ");
}

TEST(Queue, MovesAKeyUpWhenItBecomesUrgent) {
  EXPECT_EQ(tell("resync 1 0\nrepair 2 0\nchange 1 0\ntake 0\ntake 0\ntake 0\n"), "1 2 - ");
}

TEST(Queue, LetsAKeyRest) {
  EXPECT_EQ(tell("change 1 0\ntake 0\ndone 1 50\nrepair 1 10\ntake 10\ndue\ntake 49\ntake 50\n"),
            "1 - due50 - 1 ");
}

TEST(Queue, DoesNotLetEventsEndABackoff) {
  // The key failed and is to come again at 1000; events about it must not bring it earlier.
  EXPECT_EQ(tell("change 1 0\ntake 0\ndone 1 1000\nrepair 1 1000\nrepair 1 100\nresync 1 200\ntake "
                 "500\ntake 1000\n"),
            "1 - 1 ");
}

TEST(Queue, LetsANewVersionEndABackoff) {
  EXPECT_EQ(tell("change 1 0\ntake 0\ndone 1 1000\nrepair 1 1000\nchange 1 100\ntake 100\n"),
            "1 1 ");
}

TEST(Queue, RestsBeforeWhatCameWhileTheKeyWasOut) {
  EXPECT_EQ(tell("change 1 0\ntake 0\nrepair 1 5\ndone 1 50\ntake 20\ntake 50\n"), "1 - 1 ");
  EXPECT_EQ(tell("change 1 0\ntake 0\nchange 1 5\ndone 1 50\ntake 20\n"), "1 1 ");
}

TEST(Queue, RetriesAsUrgentlyAsBefore) {
  EXPECT_EQ(tell("resync 1 0\ntake 0\nretry 1 50\nchange 2 60\nrepair 3 60\n"
                 "take 40\ntake 60\ntake 60\ntake 60\n"),
            "1 - 2 3 1 ")
      << "what a resync found waits for what is live, failed or not";
  EXPECT_EQ(tell("change 1 0\ntake 0\nretry 1 50\nrepair 2 0\nrepair 1 0\ndue\ntake 60\ntake 60\n"),
            "1 due0 1 2 ")
      << "a change that failed is still one";
}

TEST(Queue, DoesNotRetryWhatANewerChangeReplaces) {
  EXPECT_EQ(tell("change 1 0\ntake 0\nchange 1 5\nretry 1 1000\ntake 5\ndone 1 55\ntake 2000\n"),
            "1 1 - ");
}

TEST(Queue, ForgetsAKey) {
  EXPECT_EQ(tell("change 1 0\nchange 2 9\nforget 1\nforget 2\nforget 3\ntake 10\ndue\n"),
            "- due- ");
}

TEST(Queue, GivesAKeyThatWasPutAsideOnlyWhenItIsAddedAgain) {
  EXPECT_EQ(tell("change 1 0\ntake 0\naside 1\ntake 0\nchange 1 0\ntake 0\n"), "1 - 1 ");
}

TEST(Queue, HastensWhatRests) {
  EXPECT_EQ(tell("change 1 0\ntake 0\ndone 1 9000\nrepair 1 9000\nhasten 100\ntake 100\n"), "1 1 ");
}

}  // namespace
}  // namespace davit::applier
