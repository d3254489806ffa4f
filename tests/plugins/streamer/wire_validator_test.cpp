#include "wire_validator.hpp"

#include <gtest/gtest.h>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/stubs/logging.h>

#include <ctrl/v1/cluster.pb.h>

namespace davit::streamer {
namespace {

using ::ctrl::v1::ApplyDeployment;

WireValidator deployment() {
  google::protobuf::FileDescriptorSet set;
  ApplyDeployment::descriptor()->file()->CopyTo(set.add_file());
  return {set.SerializeAsString(), "ctrl.v1.ApplyDeployment"};
}

ApplyDeployment full() {
  ApplyDeployment m;
  m.set_image("caf\xc3\xa9");
  m.set_cpu_millicores(-5);
  m.set_replicas(0);
  m.mutable_autoscaling()->set_max_replicas(700);
  m.add_command("run");
  m.set_healthcheck("\xff\xfe");  // bytes, not text
  return m;
}

TEST(WireValidator, TakesWhatProtobufWrites) {
  for (const WireValidator& shape : {WireValidator(), deployment()}) {
    EXPECT_TRUE(shape.fits(ApplyDeployment().SerializeAsString()));
    EXPECT_TRUE(shape.fits(full().SerializeAsString()));
  }
}

TEST(WireValidator, OfAnyMessageRefusesWhatIsCutOffAnywhere) {
  ApplyDeployment m;
  m.set_image("registry.example/app:1");
  m.set_cpu_millicores(1'000'000);
  const std::string whole = m.SerializeAsString();
  const size_t image_end = 2 + m.image().size();
  for (size_t n = 1; n < whole.size(); ++n) {
    EXPECT_EQ(WireValidator().fits(whole.substr(0, n)), n == image_end) << n;
  }
}

TEST(WireValidator, OfAnyMessageRefusesFieldZeroGroupsAndEndlessNumbers) {
  EXPECT_FALSE(WireValidator().fits(std::string("\x00\x01", 2)));
  EXPECT_FALSE(WireValidator().fits("\x0b"));
  EXPECT_FALSE(WireValidator().fits("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_FALSE(WireValidator().fits("this is text"));
}

// Whatever one byte becomes: what fits is what protobuf can decode.
TEST(WireValidator, OfATypeAgreesWithProtobufOnEveryDamage) {
  const google::protobuf::LogSilencer quiet;
  const WireValidator shape = deployment();
  const std::string whole = full().SerializeAsString();
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(byte);
      ApplyDeployment m;
      const bool decodes = m.ParseFromString(damaged);
      refused += decodes ? 0 : 1;
      // Groups are no part of proto3, but protobuf skips unknown ones.
      EXPECT_TRUE(decodes || !shape.fits(damaged)) << at << " " << byte;
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(WireValidator, OfATypeRefusesTextThatIsNoneAndWhatIsBrokenWithin) {
  const WireValidator shape = deployment();
  EXPECT_FALSE(shape.fits("\x3a\x01\xff"));           // image
  EXPECT_TRUE(WireValidator().fits("\x3a\x01\xff"));  // as far as anybody knows
  EXPECT_FALSE(shape.fits("\xda\x01\x01\x61"));       // autoscaling: a letter
  EXPECT_TRUE(shape.fits("\xda\x01\x02\x08\x07"));    // autoscaling: min_replicas
  EXPECT_TRUE(shape.fits("\x82\x7d\x02\xff\xfe"));    // a field of a later wire
  EXPECT_TRUE(shape.fits("\x4a\x02\xff\xfe"));        // a number sent as bytes is unknown, too
}

}  // namespace
}  // namespace davit::streamer
