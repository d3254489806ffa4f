// What goes into reconcile and comes out of it.
#include "kubernetes/plan.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

TEST(Input, MayLackBothParts) {
  for (const char* text : {"{}", R"({"desired":null})", R"({"observed":[]})"}) {
    const auto in = read_input(text);
    ASSERT_TRUE(in.ok()) << text;
    EXPECT_EQ(in->desired(), nullptr) << text;
    EXPECT_TRUE(in->observed().empty()) << text;
  }
  const auto in = read_input(R"({"desired":{"a":1},"observed":[7]})");
  ASSERT_TRUE(in.ok());
  EXPECT_EQ(in->desired()->at("a"), 1);
  EXPECT_EQ(in->observed().size(), 1u);
}

TEST(Input, NamesThePartThatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"observed":{}})", "observed: must be a list"},
      {R"({"observed":null})", "observed: must be a list"},
      {R"({"desired":[]})", "desired: must be an object"},
      {"[]", ": the input of reconcile is not a JSON object"}};
  for (const auto& [text, fault] : rows) {
    const auto in = read_input(text);
    ASSERT_FALSE(in.ok()) << text;
    EXPECT_EQ(in.error().where + ": " + in.error().message, fault);
  }
}

TEST(Plan, EnsuresTheNamespaceUnderTheSitesLabels) {
  EXPECT_EQ(
      json::serialize(ensure_namespace("acme", {})),
      R"({"object":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme","labels":{)"
      R"("app.kubernetes.io/managed-by":"krane","app.kubernetes.io/component":"namespace"}}},)"
      R"("mode":"ensure"})");
}

TEST(Status, OfADeletedRecordSaysWhetherItIsGone) {
  const auto told = [](const json::object& s) {
    return std::string(s.at("health").as_string()) + " " + std::string(s.at("message").as_string());
  };
  EXPECT_EQ(told(status_of_deleted(true)), "unknown ");
  EXPECT_EQ(told(status_of_deleted(false, 1, 2)), "progressing being deleted");
  const json::object slow = status_of_deleted(false, 1, 2, {}, "its node may be gone");
  EXPECT_EQ(told(slow), "progressing being deleted; its node may be gone");
  EXPECT_EQ(slow.at("ready"), 1);
  EXPECT_EQ(slow.at("stale"), 2);
}

}  // namespace
}  // namespace davit::kubernetes
