#include "ownership.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "object.hpp"

namespace davit::applier {
namespace {

json::value entry(const char* manager, const char* operation, const char* fields,
                  const char* subresource = "", const char* version = "apps/v1") {
  json::object out{{"manager", manager},
                   {"operation", operation},
                   {"apiVersion", version},
                   {"fieldsType", "FieldsV1"},
                   {"fieldsV1", json::parse(fields)}};
  if (*subresource != '\0') out["subresource"] = subresource;
  return out;
}

TEST(TakeFieldsOver, UnitesWhatOthersSetWithOurs) {
  json::array managers{
      entry("kubectl", "Update", R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:b":{}}})"),
      entry("davit", "Apply", R"({"f:spec":{"f:a":{}}})"),
      entry("flux", "Apply", R"({"f:data":{},"f:spec":{"f:a":{".":{},"f:deep":{}}}})")};
  EXPECT_TRUE(take_fields_over(managers, "davit", "apps/v1"));
  const json::array wanted{
      entry("kubectl", "Update", R"({"f:metadata":{"f:labels":{"f:a":{}}}})"),
      entry("davit", "Apply", R"({"f:spec":{"f:a":{".":{},"f:deep":{}},"f:b":{}},"f:data":{}})")};
  EXPECT_EQ(managers, wanted) << "who has nothing left is gone";
}

TEST(TakeFieldsOver, LeavesWhatIsNotForUs) {
  const char* spec = R"({"f:spec":{"f:replicas":{}}})";
  json::array managers{entry("davit", "Apply", R"({"f:spec":{"f:a":{}}})"),
                       entry("hpa", "Update", spec, "scale"),
                       entry("somebody", "Update", R"({"f:status":{}})"),
                       entry("old", "Update", spec, "", "apps/v1beta1"),
                       entry("kube-controller-manager", "Update", spec)};
  const json::array before = managers;
  EXPECT_FALSE(take_fields_over(managers, "davit", "apps/v1"));
  EXPECT_EQ(managers, before);
  json::array nobody;
  EXPECT_FALSE(take_fields_over(nobody, "davit", "apps/v1"));
}

TEST(TakeFieldsOver, BeginsOurEntryWhenItIsNotThere) {
  json::array managers{entry("davit", "Update", R"({"f:spec":{"f:a":{}}})")};
  EXPECT_TRUE(take_fields_over(managers, "davit", "apps/v1"));
  EXPECT_EQ(managers, json::array{entry("davit", "Apply", R"({"f:spec":{"f:a":{}}})")});
}

TEST(TakeFieldsOver, IsNotConfusedByNonsense) {
  json::array managers{7, json::object(), json::object{{"fieldsV1", 3}},
                       entry("x", "Update", R"({"f:spec":7})")};
  EXPECT_TRUE(take_fields_over(managers, "davit", "apps/v1"));
}

Meta stamped(const char* region, const char* kind, const char* record) {
  Meta out;
  out.region = region;
  out.kind = kind;
  out.record = record;
  return out;
}

TEST(OtherOwner, IsWhomAStampNames) {
  const Claim claim{"eu", "deployment", "acme/web"};
  EXPECT_EQ(other_owner(stamped("eu", "deployment", "acme/web"), claim), "");
  EXPECT_EQ(other_owner(stamped("", "", ""), claim), "");
  EXPECT_EQ(other_owner(stamped("us", "deployment", "acme/web"), claim),
            "region \"us\" (record \"acme/web\")");
  EXPECT_EQ(other_owner(stamped("us", "", ""), claim), "region \"us\"");
  EXPECT_EQ(other_owner(stamped("eu", "sentinel", "acme/edge"), claim),
            "kind \"sentinel\" (record \"acme/edge\")");
  EXPECT_EQ(other_owner(stamped("eu", "deployment", "acme/api"), claim), "record \"acme/api\"");
  EXPECT_EQ(other_owner(stamped("", "", "acme/api"), claim), "record \"acme/api\"");
}

TEST(MadeLater, IsOnlySaidOfTheSameStore) {
  const History history{{1, 50}, {2, 90}};
  const Knowledge known{40, 2, 3, &history};
  EXPECT_FALSE(made_later({2, 40}, known));
  EXPECT_TRUE(made_later({2, 41}, known)) << "which the record was read in";
  EXPECT_TRUE(made_later({3, 95}, known)) << "which the stream is in now";
  EXPECT_TRUE(made_later({1, 45}, known)) << "of its past";
  EXPECT_FALSE(made_later({1, 51}, known)) << "which the store has lost";
  EXPECT_FALSE(made_later({7, 99}, known)) << "of another store";
  EXPECT_FALSE(made_later({0, 99}, {40, 0, 0, nullptr})) << "of a peer that names none";
}

TEST(CannotBePlaced, IsSaidOfAnIncarnationThatNobodyHasExplained) {
  const History history{{1, 50}, {2, 90}};
  const Incarnations foreign{8};
  const Knowledge known{40, 2, 3, &history, &foreign};
  EXPECT_TRUE(cannot_be_placed({7, 1}, known));
  EXPECT_FALSE(cannot_be_placed({8, 99}, known)) << "none of the store's";
  for (const uint64_t told : {1, 2, 3})
    EXPECT_FALSE(cannot_be_placed({Incarnation(told), 99}, known)) << told;
  EXPECT_FALSE(cannot_be_placed({0, 99}, known)) << "without a stamp";
  EXPECT_FALSE(cannot_be_placed({7, 1}, {40, 0, 0, &history})) << "of a peer that names none";
}

TEST(LastWriter, IsNeitherWeNorKubernetes) {
  const json::value metadata = json::parse(R"({"managedFields": [
      {"manager":"flux","time":"2026-01-01T10:00:00Z"},
      {"manager":"kubectl","time":"2026-01-01T11:00:00Z"},
      {"manager":"kube-controller-manager","time":"2026-01-01T12:00:00Z"}, 7]})");
  EXPECT_EQ(last_writer(metadata.as_object()), "kubectl");
  EXPECT_EQ(last_writer({}), "");
}

}  // namespace
}  // namespace davit::applier
