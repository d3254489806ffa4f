#include "ownership.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

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
      entry("davit", "Apply",
            R"({"f:spec":{"f:a":{".":{},"f:deep":{}},"f:b":{}},"f:data":{}})")};
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

}  // namespace
}  // namespace davit::applier
