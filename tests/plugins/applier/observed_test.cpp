#include "observed.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

class ObservedTest : public ::testing::Test {
 protected:
  void shown(const char* version) {
    observed_.put(0, "p", text_, version, {&slot_});
    observed_.passed(0, version);
  }
  void deleted(const char* version) {
    observed_.remove("p", version);
    observed_.passed(0, version);
  }
  bool written(const char* version) {
    return observed_.put_written(0, "p", text_, version, &slot_);
  }
  void synced(const char* version) {
    observed_.passed(0, version);
    observed_.synced(0, [](RecordEntry&) {});
  }
  bool there() const { return observed_.find("p") != nullptr; }

  RecordEntry slot_;
  Text text_ = std::make_shared<const std::string>("{}");
  Observed observed_{1};
};

TEST_F(ObservedTest, AWatchThatLagsBehindDoesNotMakeAWriteLookLost) {
  shown("5");
  deleted("6");
  EXPECT_TRUE(written("7"));
  EXPECT_TRUE(there());
}

TEST_F(ObservedTest, AnAnswerThatComesAfterItsObjectsEndIsOfNothing) {
  shown("5");
  deleted("6");
  EXPECT_FALSE(written("5")) << "the watch has shown all of its life";
  EXPECT_FALSE(there());
}

TEST_F(ObservedTest, APictureWithoutAWriteOfBeforeSaysThatItIsGone) {
  observed_.restart(0);
  EXPECT_TRUE(written("5"));
  synced("6");
  EXPECT_FALSE(there());
}

TEST_F(ObservedTest, AWriteOfAfterThePictureIsKept) {
  observed_.restart(0);
  EXPECT_TRUE(written("7"));
  synced("6");
  EXPECT_TRUE(there());
}

TEST_F(ObservedTest, ANewPictureForgetsWhatItDoesNotShow) {
  shown("5");
  observed_.restart(0);
  synced("9");
  EXPECT_FALSE(there());
}

// The definition of its resource has gone while the watch was cut: the picture has no version.
TEST_F(ObservedTest, APictureOfAResourceThatIsNotThereLeavesNothing) {
  shown("5");
  EXPECT_TRUE(written("7"));
  observed_.restart(0);
  int lost = 0;
  observed_.synced(0, [&lost](RecordEntry&) { ++lost; });
  EXPECT_FALSE(there());
  EXPECT_EQ(lost, 1);
}

// The API server's store was restored, and counts from an earlier version.
TEST_F(ObservedTest, APictureReplacesWhatIsKnownWhateverTheVersionsSay) {
  shown("900");
  observed_.restart(0);
  const Text restored = std::make_shared<const std::string>("{\"restored\":true}");
  EXPECT_TRUE(observed_.put(0, "p", restored, "500", {&slot_}));
  synced("510");
  ASSERT_TRUE(there());
  EXPECT_EQ(*observed_.find("p")->text, *restored);
  EXPECT_EQ(slot_.objects.size(), 1u);
  EXPECT_FALSE(observed_.put(0, "p", text_, "499", {&slot_})) << "after it versions count again";
  EXPECT_TRUE(observed_.put(0, "p", text_, "511", {&slot_}));
}

TEST_F(ObservedTest, APictureWithOlderVersionsForgetsWhatItDoesNotShow) {
  shown("900");
  EXPECT_TRUE(written("901"));
  observed_.restart(0);
  synced("510");
  EXPECT_FALSE(there());
}

TEST_F(ObservedTest, ThePictureOfARestoredStoreMayGiveOneVersionToSomethingElse) {
  shown("500");
  observed_.restart(0);
  const Text other = std::make_shared<const std::string>("{\"other\":true}");
  EXPECT_TRUE(observed_.put(0, "p", other, "500", {&slot_}));
  observed_.restart(0);
  EXPECT_FALSE(observed_.put(0, "p", other, "500", {&slot_})) << "the same is no news";
}

TEST_F(ObservedTest, WhatIsWrittenDuringAPictureIsNotTakenBackByIt) {
  shown("5");
  observed_.restart(0);
  EXPECT_TRUE(written("8"));
  EXPECT_FALSE(observed_.put(0, "p", text_, "5", {&slot_}));
  synced("6");
  EXPECT_EQ(observed_.find("p")->resource_version, "8");
}

TEST_F(ObservedTest, AnObjectOfSeveralRecordsIsOneOfEach) {
  RecordEntry other;
  EXPECT_TRUE(observed_.put(0, "p", text_, "5", {&slot_, &other}));
  EXPECT_EQ(slot_.objects.size(), 1u);
  EXPECT_EQ(other.objects.size(), 1u);
  EXPECT_TRUE(observed_.put_written(0, "p", text_, "6", &slot_));
  EXPECT_EQ(other.objects.size(), 1u) << "a write for one takes it from nobody";
  EXPECT_TRUE(observed_.put(0, "p", text_, "7", {&other}));
  EXPECT_TRUE(slot_.objects.empty());
  EXPECT_TRUE(observed_.put(0, "p", text_, "8", {&slot_, &other}));
  EXPECT_EQ(observed_.remove("p", "9"), (RecordEntries{&slot_, &other}));
  EXPECT_TRUE(slot_.objects.empty() && other.objects.empty());
}

}  // namespace
}  // namespace davit::applier
