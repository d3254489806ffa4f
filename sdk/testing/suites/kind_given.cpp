// Role kind: what a kind asks for before it answers ("needs"), and what it makes of it ("given").
#include "kind.hpp"

namespace davit::conformance {
namespace {

class KindGiven : public KindTest {};

bool asks(const Result<std::string>& output) {
  const json::value root = output.ok() ? json::parse(*output) : json::value();
  const auto* o = root.if_object();
  const auto* needs = o == nullptr ? nullptr : o->if_contains("needs");
  return needs != nullptr && needs->is_array() && !needs->get_array().empty();
}

// A caller that lists no features does not understand the question.
TEST_F(KindGiven, K9_IsAskedForOnlyOfACallerThatUnderstands) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    EXPECT_FALSE(asks(kind_.reconcile(input_of(named, &sample, {})))) << sample;
  }
}

TEST_F(KindGiven, K9_IsAskedForOnceAndThenUsed) {
  for (const json::value sample : samples()) {
    const Named named = kind_.identify(json::serialize(sample)).value();
    const auto output = settled(input_of(named, &sample, {}));
    EXPECT_TRUE(output.ok()) << why(output) << "\n" << sample;
  }
}

// Nothing that is missing may keep a deleted record.
TEST_F(KindGiven, K9_IsNotNeededForWhatIsGone) {
  const std::string input = input_of({"id-1", "space", "name"}, nullptr, {});
  EXPECT_FALSE(asks(kind_.reconcile(with_given(input, {}))));
}

}  // namespace
}  // namespace davit::conformance
