#include "observed.hpp"

#include <gtest/gtest.h>

namespace davit::applier {
namespace {

class ObservedTest : public testing::Test {
 protected:
  void shown(const char* version) {
    observed_.put(0, "p", text_, version, &slot_);
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
    observed_.synced(0, [](Slot&) {});
  }
  bool there() const { return observed_.find("p") != nullptr; }

  Slot slot_;
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
  observed_.synced(0, [&lost](Slot&) { ++lost; });
  EXPECT_FALSE(there());
  EXPECT_EQ(lost, 1);
}

}  // namespace
}  // namespace davit::applier
