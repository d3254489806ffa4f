// One watch of several namespaces, and what leaves them.
#include "merge.hpp"

#include <gtest/gtest.h>

#include "discovery.hpp"
#include "restriction.hpp"

namespace davit::cluster_kubernetes {
namespace {

// Feeds "part:EVENT" words, and returns what comes out; "!" means that the others restart.
std::string run(Merge& merge, const std::string& words) {
  static const std::map<std::string, int32_t> types = {{"RESTART", DAVIT_WATCH_RESTART},
                                                       {"SYNCED", DAVIT_WATCH_SYNCED},
                                                       {"TROUBLE", DAVIT_WATCH_TROUBLE},
                                                       {"REFUSED", DAVIT_WATCH_REFUSED},
                                                       {"ADDED", DAVIT_WATCH_ADDED}};
  std::string out;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const size_t at = word.find('=');
    const std::string name = word.substr(2, at - 2);
    const std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    std::string object = value;
    if (name == "SYNCED")
      object = value.empty() ? "{}" : R"({"metadata":{"resourceVersion":")" + value + "\"}}";
    const auto got =
        merge.take(static_cast<size_t>(word[0] - '0'), {types.at(name), std::move(object)});
    for (const auto& [text, type] : types) {
      if (got.item && got.item->type == type)
        out += (out.empty() ? "" : " ") + text +
               (got.item->object.empty() ? "" : "=" + got.item->object);
    }
    if (got.restart_others) out += "!";
  }
  return out;
}

TEST(Merge, OneBeginningAndOneEnd) {
  Merge merge({"a", "b"}, false);
  EXPECT_EQ(run(merge, "0:RESTART 0:ADDED=x 0:SYNCED=90 1:RESTART 1:ADDED=y"),
            "RESTART ADDED=x ADDED=y");
  EXPECT_EQ(run(merge, "1:SYNCED=100"), R"(SYNCED={"metadata":{"resourceVersion":"90"}})")
      << "the lowest: up to there all of it is shown";
}

TEST(Merge, WhenOneBeginsAnewAllDo) {
  Merge merge({"a", "b"}, false);
  run(merge, "0:RESTART 1:RESTART 0:SYNCED=9 1:SYNCED=10");
  EXPECT_EQ(run(merge, "1:RESTART"), "RESTART!");
  EXPECT_EQ(run(merge, "1:SYNCED=11 0:RESTART 0:ADDED=x"), "ADDED=x") << "it restarts nobody";
  EXPECT_EQ(run(merge, "0:SYNCED=12"), R"(SYNCED={"metadata":{"resourceVersion":"11"}})");
}

TEST(Merge, AWatchThatGoesOnNeedsNoBeginning) {
  Merge merge({"a", "b"}, true);
  EXPECT_EQ(run(merge, "0:ADDED=x 1:ADDED=y"), "ADDED=x ADDED=y");
  EXPECT_EQ(run(merge, "0:RESTART"), "RESTART!") << "the other one has shown what is forgotten now";
}

TEST(Merge, OnePartInTroubleMakesTheWholeIncomplete) {
  Merge merge({"a", "b"}, false);
  run(merge, "0:RESTART 1:RESTART 0:SYNCED=9 1:SYNCED=9");
  EXPECT_EQ(run(merge, "1:REFUSED=forbidden 0:TROUBLE=gone"),
            "REFUSED=namespace \"b\": forbidden TROUBLE=namespace \"a\": gone");
  EXPECT_EQ(run(merge, "0:SYNCED=12"), "");
  EXPECT_EQ(run(merge, "1:SYNCED=13"), R"(SYNCED={"metadata":{"resourceVersion":"12"}})");
}

TEST(Merge, NothingIsThereOnlyIfNothingIsThereAnywhere) {
  Merge merge({"a", "b"}, false);
  EXPECT_EQ(run(merge, "0:RESTART 0:SYNCED 1:RESTART 1:SYNCED"), "RESTART SYNCED={}");
}

TEST(Merge, OnePartIsPassedAsItIs) {
  Merge merge({"a"}, false);
  EXPECT_EQ(run(merge, "0:RESTART 0:TROUBLE=x 0:SYNCED 0:RESTART"),
            "RESTART TROUBLE=x SYNCED={} RESTART");
}

cluster::Request request(std::string verb, std::string resource, std::string ns, std::string name) {
  cluster::Request q;
  q.verb = std::move(verb);
  q.resource = {"", "v1", std::move(resource)};
  q.ns = std::move(ns);
  q.name = std::move(name);
  return q;
}

TEST(Restriction, WhatLeavesTheNamespacesIsRefusedWithAReason) {
  const Restriction only({"shop", "web"});
  const std::string reason = "this agent is restricted to namespaces (shop, web)";
  const auto said = [&](const cluster::Request& q) {
    const auto allowed = only.allows(q);
    return allowed.ok() ? "ok" : allowed.error().message;
  };
  EXPECT_EQ(said(request("get", "pods", "shop", "a")), "ok");
  EXPECT_EQ(said(request("get", "pods", "other", "a")),
            "namespace \"other\" is left alone: " + reason);
  EXPECT_EQ(said(request("get", "pods", "", "")),
            "pods are not asked for in all namespaces: " + reason);
  EXPECT_EQ(said(request("get", "nodes", "", "n")),
            "nodes are no objects of a namespace, and " + reason);
  EXPECT_EQ(said(request("get", "namespaces", "", "web")), "ok");
  EXPECT_EQ(said(request("get", "namespaces", "", "other")),
            "namespace \"other\" is left alone: " + reason);
  EXPECT_EQ(said(request("create", "namespaces", "", "web")),
            "a namespace cannot be created: " + reason + ", and they must exist");
  cluster::Request review = request("create", "selfsubjectaccessreviews", "", "");
  review.resource.group = "authorization.k8s.io";
  EXPECT_EQ(said(review), "ok");
  EXPECT_TRUE(Restriction({}).allows(request("get", "nodes", "", "n")).ok());
}

TEST(Restriction, AWatchOfAllIsOneOfEach) {
  const Restriction only({"shop", "web"});
  cluster::WatchRequest q;
  q.resource = {"", "v1", "pods"};
  EXPECT_EQ(*only.parts(q), (std::vector<std::string>{"shop", "web"}));
  EXPECT_EQ(*Restriction({}).parts(q), std::vector<std::string>{""});
  q.ns = "web";
  EXPECT_EQ(*only.parts(q), std::vector<std::string>{"web"});
  q.ns = "other";
  EXPECT_EQ(only.parts(q).error().code, Code::permission_denied);
  q.ns.clear();
  q.resource.resource = "namespaces";
  EXPECT_FALSE(only.parts(q).ok());
}

TEST(Discovery, KnowsWhereObjectsAre) {
  const std::string list =
      R"({"resources":[{"name":"a","namespaced":true},{"name":"b","namespaced":false}]})";
  EXPECT_EQ(Discovery::scope(list, "a"), Discovery::Scope::namespaced);
  EXPECT_EQ(Discovery::scope(list, "b"), Discovery::Scope::cluster);
  EXPECT_EQ(Discovery::scope(list, "c"), Discovery::Scope::unknown);
  EXPECT_EQ(Discovery::scope("<html>", "a"), Discovery::Scope::unknown);
}

}  // namespace
}  // namespace davit::cluster_kubernetes
