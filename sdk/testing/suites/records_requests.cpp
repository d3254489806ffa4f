// Role records: request ids (R6).
#include "records.hpp"

namespace davit::conformance {
namespace {

using RecordsRequests = Records;

records::Apply requested(std::vector<records::Document> documents, const std::string& id = "q",
                         const std::string& author = "suite") {
  return {std::move(documents), id, false, author};
}

TEST_F(RecordsRequests, R6_ARepeatedRequestChangesNothing) {
  put(document("b"));
  const auto request = requested({document("a"), document("b"), document("c")});
  const auto first = apply(request);
  ASSERT_EQ(outcomes(first), "created unchanged created");
  const std::string before = everything();
  const auto second = apply(request);
  ASSERT_EQ(second.size(), 3u);
  for (size_t n = 0; n < 3; ++n) {
    EXPECT_FALSE(second[n].error) << second[n].error->message;
    EXPECT_EQ(second[n].at, first[n].at);
  }
  EXPECT_EQ(everything(), before);
}

TEST_F(RecordsRequests, R6_ARepetitionUndoesNothingOfOthers) {
  const auto one = requested({document("a")}, "one");
  const auto two = requested({document("b"), document("c")}, "two");
  apply(one);
  apply(two);
  apply({document("a", 2), document("b", 2)});
  apply({removal("c")});
  const std::string before = everything();
  for (const auto& results : {apply(one), apply(two)}) {
    for (const auto& r : results) EXPECT_FALSE(r.error) << r.error->message;
  }
  EXPECT_EQ(everything(), before);
}

TEST_F(RecordsRequests, R6_ARepetitionIsAnsweredWhateverWasExpected) {
  const Version version = put(document("b")).version;
  for (const auto& request :
       {requested({expecting(document("a"), 0)}, "one"),
        requested({expecting(document("b", 2), version), expecting(document("c"), 0)}, "two")}) {
    const auto first = apply(request);
    const std::string before = everything();
    const auto second = apply(request);
    ASSERT_EQ(first.size(), second.size());
    for (size_t n = 0; n < first.size(); ++n) {
      ASSERT_FALSE(first[n].error) << first[n].error->message;
      ASSERT_FALSE(second[n].error) << second[n].error->message;
      EXPECT_EQ(second[n].at, first[n].at);
    }
    EXPECT_EQ(everything(), before);
  }
  EXPECT_EQ(outcomes(apply(requested({expecting(document("a", 3), 0)}, "three"))), "10")
      << "another id";
}

TEST_F(RecordsRequests, R6_ARepeatedDeleteIsAnswered) {
  const Version version = put(document("a")).version;
  const auto request = requested({removal("a", version)});
  ASSERT_EQ(outcomes(apply(request)), "deleted");
  const std::string before = everything();
  const auto second = apply(request);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_FALSE(second[0].error) << second[0].error->message;
  EXPECT_EQ(everything(), before);
}

TEST_F(RecordsRequests, R6_AnIdIsOfOneContentAndOneAuthor) {
  apply(requested({document("a")}));
  const std::string before = everything();
  const auto results = apply(requested({document("a", 2)}));
  ASSERT_EQ(results.size(), 1u);
  ASSERT_TRUE(results[0].error);
  EXPECT_FALSE(retryable(results[0].error->code)) << results[0].error->message;
  EXPECT_EQ(everything(), before);
  EXPECT_EQ(outcomes(apply(requested({document("a", 2)}, "q", "another"))), "changed");
}

TEST_F(RecordsRequests, R6_AnIdThatNoRequestCanHaveIsRefused) {
  for (const std::string& id : {std::string(254, 'x'), std::string("a\nb")}) {
    const auto results = apply(requested({document("a"), document("b")}, id));
    ASSERT_EQ(outcomes(results), "3 3");
    EXPECT_EQ(results[0].error->where, "request_id");
  }
  EXPECT_EQ(everything(), "");
}

TEST_F(RecordsRequests, R6_ARestartForgetsNoId) {
  if (is_volatile()) GTEST_SKIP() << "nothing outlives an instance";
  const auto request = requested({document("a"), document("b")});
  const auto first = apply(request);
  restart();
  apply({document("a", 2)});
  const std::string before = everything();
  for (const auto& r : apply(request)) EXPECT_FALSE(r.error) << r.error->message;
  EXPECT_EQ(everything(), before);
}

}  // namespace
}  // namespace davit::conformance
