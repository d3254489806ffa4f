#include "kubernetes/rights.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace davit::kubernetes {
namespace {

TEST(Rights, ASubresourceIsARightOfItsOwn) {
  const Right whole{"update", "example.com", "v1", "robots"};
  Right status = whole;
  status.subresource = "status";
  EXPECT_EQ(whole.name(), "robots.example.com");
  EXPECT_EQ(status.name(), "robots.example.com/status");
  const std::string role = cluster_role("agent", {whole, status});
  EXPECT_NE(role.find("resources: [robots]\n"), std::string::npos) << role;
  EXPECT_NE(role.find("resources: [robots/status]\n"), std::string::npos) << role;
  const auto asked = [](const Right& right) {
    return boost::json::parse(review_of(right).body)
        .at_pointer("/spec/resourceAttributes")
        .as_object();
  };
  EXPECT_FALSE(asked(whole).contains("subresource"));
  EXPECT_EQ(asked(status).at("subresource"), "status");
}

}  // namespace
}  // namespace davit::kubernetes
