#include <gtest/gtest.h>

#include <ctrl/v1/cluster.pb.h>

#include "classifier.hpp"

namespace davit::streamer {
namespace {

TEST(WellFormed, TakesWhatProtobufWrites) {
  ::ctrl::v1::ApplyDeployment m;
  EXPECT_TRUE(well_formed(m.SerializeAsString()));
  m.set_image("i");
  m.set_cpu_millicores(-5);
  m.set_replicas(0);
  m.mutable_autoscaling()->set_max_replicas(7);
  m.add_command("run");
  EXPECT_TRUE(well_formed(m.SerializeAsString()));
}

TEST(WellFormed, RefusesWhatIsCutOffAnywhere) {
  ::ctrl::v1::ApplyDeployment m;
  m.set_image("registry.example/app:1");
  m.set_cpu_millicores(1'000'000);
  const std::string whole = m.SerializeAsString();
  const size_t image_end = 2 + m.image().size();
  for (size_t n = 1; n < whole.size(); ++n) {
    EXPECT_EQ(well_formed(whole.substr(0, n)), n == image_end) << n;
  }
}

TEST(WellFormed, RefusesFieldZeroGroupsAndEndlessNumbers) {
  EXPECT_FALSE(well_formed(std::string("\x00\x01", 2)));
  EXPECT_FALSE(well_formed("\x0b"));
  EXPECT_FALSE(well_formed("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_FALSE(well_formed("this is text"));
}

}  // namespace
}  // namespace davit::streamer
