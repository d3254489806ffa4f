#include "token_review.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace davit::secrets_blob {
namespace {

// An answer as a real API server gives it, with one text replaced.
std::string answer(const std::string& what = {}, const std::string& with = {}) {
  std::string out = R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",
    "spec":{"token":"t"},"status":{"authenticated":true,"user":{
    "username":"system:serviceaccount:acme:customer-workload","uid":"u1",
    "groups":["system:serviceaccounts","system:authenticated"],"extra":{
    "authentication.kubernetes.io/credential-id":["JTI=1"],
    "authentication.kubernetes.io/pod-name":["web-1"],
    "authentication.kubernetes.io/pod-uid":["p1"]}},"audiences":["davit","other"]}})";
  if (what.empty()) return out;
  const size_t at = out.find(what);
  if (at == std::string::npos) ADD_FAILURE() << what;
  return out.replace(at, what.size(), with);
}
std::string told_of_review(const std::string& text,
                           const std::vector<std::string>& audiences = {}) {
  const auto who = read_review(text, audiences);
  if (!who.ok())
    return (who.error().code == Code::unauthenticated ? "refused: " : "away: ") +
           who.error().message;
  return who->ns + " " + who->service_account + " " + who->pod + " " + who->uid;
}

TEST(TokenReview, NamesThePodOfTheToken) {
  EXPECT_EQ(told_of_review(answer()), "acme customer-workload web-1 p1");
}

TEST(TokenReview, ThatWasNotAuthenticatedIsNobodys) {
  const std::string no = "refused: the API server does not accept the token";
  EXPECT_EQ(told_of_review(answer("\"authenticated\":true", "\"authenticated\":false")), no);
  EXPECT_EQ(told_of_review(answer("\"authenticated\":true,", "")), no);
  EXPECT_EQ(told_of_review(answer("\"authenticated\":true", "\"authenticated\":\"true\"")), no);
  EXPECT_EQ(told_of_review(R"({"kind":"TokenReview","status":{"error":"expired"}})"), no);
}

TEST(TokenReview, IsOfAServiceAccountInFourParts) {
  for (const char* user :
       {"system:serviceaccount:acme", "system:serviceaccount:acme:a:b", "system:serviceaccount::a",
        "system:serviceaccount:acme:", "system:node:acme:a", "system:serviceAccount:acme:a", "acme",
        "", "system:serviceaccount:../kube-system:a", "xsystem:serviceaccount:acme:a",
        "system:serviceaccount:ACME:a"})
    EXPECT_EQ(told_of_review(answer("system:serviceaccount:acme:customer-workload", user)),
              "refused: the token is not that of a service account")
        << user;
}

TEST(TokenReview, OfATokenWithoutAPodIsRefused) {
  const std::string no = "refused: the token is not bound to a pod";
  EXPECT_EQ(told_of_review(answer("pod-name", "other")), no);
  EXPECT_EQ(told_of_review(answer("[\"web-1\"]", "[]")), no);
  EXPECT_EQ(told_of_review(answer("[\"web-1\"]", "\"web-1\"")), no);
  EXPECT_EQ(told_of_review(answer("web-1", "../web")), no);
  EXPECT_EQ(told_of_review(answer("[\"web-1\"]", "[\"web-1\",\"web-2\"]")),
            "refused: its authentication.kubernetes.io/pod-name is not one text");
  EXPECT_EQ(told_of_review(answer("[\"web-1\"]", "[7]")),
            "refused: its authentication.kubernetes.io/pod-name is not one text");
}

TEST(TokenReview, MaySayNothingOfThePodsUid) {
  EXPECT_EQ(told_of_review(answer("pod-uid", "other")), "acme customer-workload web-1 ");
  EXPECT_EQ(told_of_review(answer("[\"p1\"]", "[\"p1\",\"p2\"]")),
            "refused: its authentication.kubernetes.io/pod-uid is not one text");
}

// A server that does not know audiences answers without them.
TEST(TokenReview, SaysOneOfTheAudiencesThatWereAskedFor) {
  const std::string no = "refused: the token is not for one of the audiences";
  EXPECT_EQ(told_of_review(answer(), {"davit"}), "acme customer-workload web-1 p1");
  EXPECT_EQ(told_of_review(answer(), {"none", "other"}), "acme customer-workload web-1 p1");
  EXPECT_EQ(told_of_review(answer(), {"dav"}), no);
  EXPECT_EQ(told_of_review(answer("[\"davit\",\"other\"]", "[]"), {"davit"}), no);
  EXPECT_EQ(told_of_review(answer(",\"audiences\":[\"davit\",\"other\"]", ""), {"davit"}), no);
}

TEST(TokenReview, WhatIsNoAnswerToOneRefusesNobody) {
  EXPECT_EQ(told_of_review("<html>"),
            "away: the answer to a TokenReview is not JSON: syntax error");
  EXPECT_EQ(told_of_review(""), "away: the answer to a TokenReview is not JSON: incomplete JSON");
  EXPECT_EQ(told_of_review(R"({"kind":"Status","status":{}})"),
            "away: the answer to a TokenReview is none");
  EXPECT_EQ(told_of_review(R"({"kind":"TokenReview"})"),
            "away: the answer to a TokenReview is none");
}

TEST(TokenReview, AsksWithTheTokenAndTheAudiences) {
  EXPECT_EQ(review_body("a.b-c_d", {}).view(),
            R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview",)"
            R"("spec":{"token":"a.b-c_d"}})");
  const auto asked = boost::json::parse(std::string(review_body("t", {"davit", "quote\""}).view()));
  EXPECT_EQ(asked.at_pointer("/spec/audiences"), (boost::json::value{"davit", "quote\""}));
  const cluster::Request q = review_request();
  EXPECT_EQ(q.verb, "create");
  EXPECT_EQ(q.resource, (cluster::Resource{"authentication.k8s.io", "v1", "tokenreviews"}));
}

TEST(Token, HasTheCharactersOfOne) {
  EXPECT_TRUE(may_be_token("eyJhbGciOiJSUzI1NiIsImtpZCI6.e30-_~+/.x=="));
  for (const char* text : {"", "a b", "a\"b", "a\\b", "a\nb", "\xc3\xa4", "a,b"})
    EXPECT_FALSE(may_be_token(text)) << text;
}

}  // namespace
}  // namespace davit::secrets_blob
