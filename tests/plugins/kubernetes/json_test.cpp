// How objects of a cluster are read: what counts as absent.
#include "kubernetes/json.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace davit::kubernetes {
namespace {

namespace json = boost::json;

const json::value& object() {
  static const json::value value = json::parse(R"({
    "metadata": {"name": "web", "labels": {"example.com/app": "shop"}, "generation": 3},
    "spec": {"replicas": "12", "ports": [80], "paused": true}
  })");
  return value;
}

TEST(Json, IsReadByPointer) {
  EXPECT_EQ(text_at(object(), "/metadata/name"), "web");
  EXPECT_EQ(text_at(object(), "/metadata/labels/example.com~1app"), "shop");
  EXPECT_EQ(integer_at(object(), "/metadata/generation"), 3);
  EXPECT_EQ(integer_at(object(), "/spec/replicas"), 12) << "proto3 JSON writes int64 as a string";
  ASSERT_NE(array_at(object(), "/spec/ports"), nullptr);
  EXPECT_EQ(object_at(object(), "/metadata/labels")->size(), 1u);
}

TEST(Json, IsReadByTheNameOfAMemberWithoutEscapes) {
  const auto* labels = object_at(object(), "/metadata/labels");
  EXPECT_EQ(text_in(labels, "example.com/app"), "shop");
  const json::object& root = object().get_object();
  EXPECT_EQ(text_in(object_in(root, "metadata"), "name"), "web");
  EXPECT_NE(array_in(object_in(root, "spec"), "ports"), nullptr);
}

TEST(Json, CountsWhatHasAnotherTypeAsAbsent) {
  EXPECT_EQ(text_at(object(), "/metadata/generation"), "");
  EXPECT_EQ(text_at(object(), "/no/such/place"), "");
  EXPECT_EQ(text_at(json::value(7), "/metadata"), "") << "the root is no object";
  EXPECT_EQ(object_at(object(), "/metadata/name"), nullptr);
  EXPECT_EQ(array_at(object(), "/spec"), nullptr);
  EXPECT_EQ(integer_at(object(), "/metadata/name"), std::nullopt) << "no digits";
  EXPECT_EQ(integer_at(object(), "/spec/paused"), std::nullopt);
  EXPECT_EQ(text_in(nullptr, "name"), "");
  EXPECT_EQ(object_in(nullptr, "spec"), nullptr);
  EXPECT_EQ(array_in(nullptr, "ports"), nullptr);
}

}  // namespace
}  // namespace davit::kubernetes
