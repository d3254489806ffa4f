// How the commands read what became of a document, whatever the version of the server.
#include "commands/outcomes.hpp"

#include <davit/v1/operator.pb.h>
#include <gtest/gtest.h>

namespace davit::host {
namespace {

v1::Outcome outcome(const std::string& word, int32_t type, Code code = Code::ok) {
  v1::Outcome out;
  out.set_kind("deployment");
  out.set_id("d_1");
  out.set_region("eu-1");
  out.set_outcome(word);
  out.set_type(static_cast<v1::Outcome::Type>(type));
  out.set_code(static_cast<int32_t>(code));
  return out;
}

TEST(Outcomes, ARefusalIsKnownByItsType) {
  EXPECT_TRUE(is_refused(outcome("refused", v1::Outcome::TYPE_REFUSED, Code::invalid_argument)));
  EXPECT_FALSE(is_refused(outcome("created", v1::Outcome::TYPE_CREATED)));
  EXPECT_FALSE(is_refused(outcome("absent", v1::Outcome::TYPE_ABSENT)));
}

TEST(Outcomes, OfAnOlderServerARefusalIsKnownByItsCode) {
  EXPECT_TRUE(is_refused(outcome("refused", v1::Outcome::TYPE_UNSPECIFIED, Code::aborted)));
  EXPECT_FALSE(is_refused(outcome("unchanged", v1::Outcome::TYPE_UNSPECIFIED)));
}

TEST(Outcomes, OfALaterServerAnUnknownTypeIsShownByItsWord) {
  const v1::Outcome later = outcome("postponed", 99);
  EXPECT_FALSE(is_refused(later));
  EXPECT_EQ(outcome_line(later), "deployment/d_1 (eu-1) postponed");
}

TEST(Outcomes, TheExitCodeIsThatOfTheRefusal) {
  EXPECT_EQ(exit_code_of(outcome("refused", v1::Outcome::TYPE_REFUSED, Code::invalid_argument)),
            exit_code_refused);
}

}  // namespace
}  // namespace davit::host
