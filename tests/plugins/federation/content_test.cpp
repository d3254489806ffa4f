// What of an object travels, and the hash that stands for it in the cache.
#include "pair.hpp"

namespace davit::federation::test {
namespace {

json::object content(const std::string& text) {
  Rules rules;
  return content_of(rules, parsed(R"({"metadata":{},"spec":)" + text + "}"));
}

TEST(Content, IsTheSameInAnyOrderOfMembersAndInNoOtherOrderOfElements) {
  EXPECT_TRUE(content(R"({"a":1,"b":{"c":[1,2],"d":null}})") ==
              content(R"({"b":{"d":null,"c":[1,2]},"a":1})"));
  EXPECT_FALSE(content("[1,2]") == content("[2,1]"));
}

TEST(Content, EveryDifferenceIsSeen) {
  const std::vector<std::string> all{
      R"({"a":1,"b":2})", R"({"a":2,"b":1})", R"({"a":1})",    R"({"a":1.5})", R"({"a":"1"})",
      R"({"a":true})",    R"({"a":"true"})",  R"({"a":null})", R"({"a":[1]})", R"({"a":[[1]]})",
      R"({"a":{}})",      R"({"a":[]})",      R"({"a":""})",   R"({"A":1})",   "{}",
      R"({"a":{"b":1}})", R"({"b":{"a":1}})", R"(["a",1])",    R"("a")",       "1"};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(content(all[i]) == content(all[j]), i == j) << all[i] << all[j];
      EXPECT_EQ(hash_of(content(all[i])) == hash_of(content(all[j])), i == j) << all[i] << all[j];
    }
  }
}

TEST(Content, SmallNumbersThatHaveSwappedPlacesAreSeen) {
  for (int n = 0; n < 1000; ++n) {
    const std::string a = "k" + std::to_string(n), b = "k" + std::to_string(n + 1);
    EXPECT_FALSE(content("{\"" + a + "\":1,\"" + b + "\":2}") ==
                 content("{\"" + a + "\":2,\"" + b + "\":1}"));
  }
}

TEST(Content, ACondensedObjectLacksWhatTravelsAndStandsForIt) {
  Pair p;
  p.rules.fields = {"spec", "data"};
  const json::object whole = Pair::down(R"("spec":{"x":1},"data":null,"other":7,"status":1)",
                                        R"("labels":{"l":"1"},"finalizers":["f"])");
  json::object condensed = whole;
  condense(p.rules, condensed);
  EXPECT_FALSE(condensed.contains("spec"));
  EXPECT_EQ(condensed.at("metadata"), whole.at("metadata"));
  EXPECT_EQ(condensed.at("other"), 7);
  EXPECT_EQ(condensed.at("status"), 1);
  // It is kept as text.
  const json::object read = parsed(json::serialize(condensed));
  EXPECT_TRUE(content_of(p.rules, whole) == content_of(p.rules, read));
  EXPECT_EQ(hash_of(content_of(p.rules, whole)), hash_of(content_of(p.rules, read)));
}

// --- an answer that names the metadata only

constexpr const char* metadata_only =
    R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
    R"("metadata":{"name":"a","namespace":"n","uid":"u1","resourceVersion":"11"}})";

TEST(AfterStatus, TheObjectIsTheCachedOneWithTheStatusThatWasSent) {
  const json::object sent = Pair::up(R"("status":{"new":2})");
  const std::string cached = json::serialize(Pair::up(R"("spec":1,"status":{"old":1})"));
  EXPECT_EQ(parsed(after_status(metadata_only, &cached, sent)), parsed(R"({
    "apiVersion":"g/v1","kind":"Robot","spec":1,"status":{"new":2},
    "metadata":{"name":"a","namespace":"n","uid":"u1","resourceVersion":"11"}})"));
}

TEST(AfterStatus, WhatTheWatchHasShownMeanwhileIsKept) {
  const json::object sent = Pair::up(R"("status":{"new":2})");
  json::object newer = Pair::up(R"("spec":5,"status":{"new":2})");
  newer.at("metadata").as_object()["resourceVersion"] = "12";
  const std::string cached = json::serialize(newer);
  EXPECT_EQ(after_status(metadata_only, &cached, sent), "");
  EXPECT_EQ(after_status(metadata_only, nullptr, sent), "") << "it has gone";
}

TEST(AfterStatus, AWholeObjectIsTakenAsItIs) {
  const json::object sent = Pair::up(R"("status":{"new":2})");
  const std::string whole = R"({"kind":"Robot","status":{"new":3}})";
  EXPECT_EQ(after_status(whole, nullptr, sent), whole);
}

TEST(Content, WithoutFieldsThereIsNothingToCondense) {
  Rules rules;
  const json::object whole = parsed(R"({"metadata":{"name":"a"},"spec":null,"other":7})");
  json::object condensed = whole;
  condense(rules, condensed);
  EXPECT_EQ(condensed, parsed(R"({"metadata":{"name":"a"},"other":7})"));
  EXPECT_TRUE(content_of(rules, whole) == content_of(rules, condensed));
}

}  // namespace
}  // namespace davit::federation::test
