// Numbers and depth, as they are seen in the text of a message.
#include "kubernetes/written.hpp"
#include "message.hpp"

namespace davit::manifest::test {
namespace {

std::string fault_of_number(const std::string& number) {
  return fault_of(R"({"namespace":"shop","name":"web","objects":[{"apiVersion":"v1","kind":)"
                  R"("ConfigMap","metadata":{"name":"a"}},{"apiVersion":"v1","kind":"ConfigMap",)"
                  R"("metadata":{"name":"b"},"x":[1,)" +
                  number + "]}]}");
}

TEST(Written, EveryNumberThatArrivesAsItWasWrittenIsTaken) {
  for (const char* number :
       {"0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "0.1", "-2.5", "1e3", "1.0", "0.30000000000000004", "1E-7"})
    EXPECT_EQ(fault_of_number(number), "") << number;
}

TEST(Written, ANumberThatNoDoubleHasIsRefusedWithItsObject) {
  EXPECT_EQ(fault_of_number("1e400"),
            "objects[1]: has the number 1e400, which no double has exactly so: write it shorter, "
            "or as a text");
}

TEST(Written, AnObjectMayBeNestedAsDeepAsTheParsersOnItsWayAllow) {
  const auto nested = [](int levels) {
    json::value v = 1;
    for (int i = 0; i < levels; ++i) v = json::object{{"a", std::move(v)}};
    return message({config_map("a"), object("v1", "ConfigMap", "b", {{"x", std::move(v)}})});
  };
  EXPECT_EQ(fault_of(nested(kubernetes::object_depth_max - 1)), "");
  EXPECT_EQ(fault_of(nested(kubernetes::object_depth_max)), "objects[1]: is nested deeper than 24 levels");
  EXPECT_EQ(fault_of(nested(100)), "objects[1]: is nested deeper than 24 levels");
}

TEST(Written, BracketsAndDigitsInTextsCountForNothing) {
  EXPECT_EQ(
      fault_of(message({config_map("a", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\" 1e400 {{")})), "");
}

}  // namespace
}  // namespace davit::manifest::test
