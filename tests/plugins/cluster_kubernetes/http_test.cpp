// Addresses, answers, lines and the JSON scan.
#include <gtest/gtest.h>

#include "address.hpp"
#include "answer.hpp"
#include "discovery.hpp"
#include "lines.hpp"

namespace davit::cluster_kubernetes {
namespace {

cluster::Request request(std::string verb, cluster::Resource r, std::string ns, std::string name,
                         std::string sub = {}, Pairs query = {}, std::string body = {}) {
  return {verb, r, ns, name, sub, query, {}, body, INT64_MAX};
}
std::string line(const cluster::Request& q) {
  auto t = address(q);
  if (!t.ok()) return "error: " + t.error().message;
  return t->method + " " + t->path + (t->content_type.empty() ? "" : " " + t->content_type);
}

TEST(Address, FollowsTheApisConventions) {
  const cluster::Resource pods{"", "v1", "pods"}, sets{"apps", "v1", "replicasets"};
  EXPECT_EQ(line(request("get", pods, "default", "a")), "GET /api/v1/namespaces/default/pods/a");
  EXPECT_EQ(line(request("get", pods, "", "")), "GET /api/v1/pods");
  EXPECT_EQ(line(request("get", sets, "", "", "", {{"labelSelector", "a in (b,c),d=e/f"}})),
            "GET /apis/apps/v1/replicasets?labelSelector=a%20in%20%28b%2Cc%29%2Cd%3De%2Ff");
  EXPECT_EQ(line(request("create", pods, "default", "a", "", {}, "{}")),
            "POST /api/v1/namespaces/default/pods application/json");
  EXPECT_EQ(line(request("apply", sets, "default", "web", "",
                         {{"fieldManager", "davit"}, {"force", "true"}}, "{}")),
            "PATCH /apis/apps/v1/namespaces/default/replicasets/web?fieldManager=davit&force=true "
            "application/apply-patch+yaml");
  EXPECT_EQ(
      line(request("merge", sets, "default", "web", "status", {}, "{}")),
      "PATCH /apis/apps/v1/namespaces/default/replicasets/web/status application/merge-patch+json");
  EXPECT_EQ(line(request("update", pods, "default", "a", "", {}, "{}")),
            "PUT /api/v1/namespaces/default/pods/a application/json");
  EXPECT_EQ(line(request("delete", pods, "default", "a")),
            "DELETE /api/v1/namespaces/default/pods/a");
  EXPECT_EQ(line(request("create", pods, "default", "a", "eviction", {}, "{}")),
            "POST /api/v1/namespaces/default/pods/a/eviction application/json");
}

TEST(Address, NothingInANameLeavesItsPlace) {
  const cluster::Resource pods{"", "v1", "pods"};
  EXPECT_EQ(line(request("get", pods, "default", "a/../b?x#y")),
            "GET /api/v1/namespaces/default/pods/a%2F..%2Fb%3Fx%23y");
  EXPECT_EQ(line(request("get", pods, "default", "..")), "error: \"..\" cannot stand in a path");
  EXPECT_EQ(line(request("get", pods, "..", "a")), "error: \"..\" cannot stand in a path");
  EXPECT_EQ(line(request("dance", pods, "default", "a")), "error: the verb \"dance\" is unknown");
  EXPECT_EQ(line(request("delete", pods, "default", "")),
            "error: the verb \"delete\" needs a name");
  EXPECT_EQ(line(request("get", {"", "", "pods"}, "default", "a")),
            "error: a resource needs a version and a name");
}

TEST(Answer, CodesSayWhatTheCallerShouldDo) {
  const std::vector<std::tuple<int, std::string, Code>> rows = {
      {200, "", Code::ok},
      {201, "", Code::ok},
      {400, "BadRequest", Code::invalid_argument},
      {401, "", Code::unauthenticated},
      {403, "", Code::permission_denied},
      {404, "", Code::not_found},
      {409, "AlreadyExists", Code::already_exists},
      {409, "Conflict", Code::aborted},
      {410, "", Code::out_of_range},
      {422, "Invalid", Code::invalid_argument},
      {429, "", Code::resource_exhausted},
      {500, "", Code::internal},
      {502, "", Code::unavailable},
      {503, "", Code::unavailable},
      {504, "", Code::deadline_exceeded},
      {413, "", Code::invalid_argument},
      {302, "", Code::internal}};
  for (const auto& [http, reason, code] : rows) EXPECT_EQ(code_of_http(http, reason), code) << http;
}

TEST(Answer, StatusBodiesAreRead) {
  Outcome o;
  o.http = 409;
  o.headers = {{"retry-after", "7"}};
  o.body = R"({"kind":"Status","reason":"AlreadyExists","message":"m","code":409})";
  auto r = to_response(o);
  EXPECT_EQ(r.code, Code::already_exists);
  EXPECT_EQ(r.reason, "AlreadyExists");
  EXPECT_EQ(r.message, "m");
  EXPECT_EQ(r.retry_after, std::chrono::seconds(7));
}

TEST(Answer, WhatEtcdFindsTooLargeIsNoFaultThatPasses) {
  for (const char* message :
       {"etcdserver: request is too large",
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max "
        "(2097200 vs. 2097152)"}) {
    Outcome o;
    o.http = 500;
    o.body = R"({"kind":"Status","message":")" + std::string(message) + R"(","code":500})";
    const auto r = to_response(o);
    EXPECT_EQ(r.code, Code::invalid_argument) << message;
    EXPECT_EQ(r.http_status, 413);
    EXPECT_EQ(r.message, message);
  }
  Outcome other;
  other.http = 500;
  other.body = R"({"kind":"Status","message":"etcdserver: leader changed","code":500})";
  EXPECT_EQ(to_response(other).code, Code::internal);
}

TEST(Answer, OtherBodiesDoNoHarm) {
  for (std::string body :
       {"", "<html>", "[]", "{\"kind\":1}", "{\"kind\":\"Status\",\"details\":[]}", "{"}) {
    Outcome o;
    o.http = 503;
    o.body = body;
    auto r = to_response(o);
    EXPECT_EQ(r.code, Code::unavailable) << body;
    EXPECT_EQ(r.message, "the API server answered with HTTP status 503") << body;
  }
}

// Whoever deletes takes NOT_FOUND for done. A proxy without a route knows nothing of the object.
TEST(Answer, NotFoundIsWhatTheApiServerAloneCanSay) {
  Outcome o;
  o.http = 404;
  o.body = "404 page not found\n";
  EXPECT_EQ(to_response(o).code, Code::unavailable);
  EXPECT_EQ(to_response(o).http_status, 0) << "no answer";
  EXPECT_EQ(to_response(o).message, "the API server did not send this: is a proxy in between?");
  o.headers = {{"audit-id", "0d7e58fc-2c21-4ee1-a1dc-1f2dd6ba1c0e"}};
  EXPECT_EQ(to_response(o).code, Code::not_found);
  o.headers.clear();  // a proxy that leaves out headers
  o.body = R"({"kind":"Status","reason":"NotFound","message":"pods \"a\" not found","code":404})";
  EXPECT_EQ(to_response(o).code, Code::not_found);
}

TEST(Answer, RetryAfterIsInSecondsAndBounded) {
  EXPECT_EQ(retry_after({{"retry-after", "1"}}), std::chrono::seconds(1));
  EXPECT_EQ(retry_after({{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}).count(), 0);
  EXPECT_EQ(retry_after({{"retry-after", "-1"}}).count(), 0);
  EXPECT_EQ(retry_after({{"retry-after", "4000000000"}}), std::chrono::seconds(86'400));
  EXPECT_EQ(retry_after({}).count(), 0);
}

TEST(Answer, NoAnswerIsUnavailable) {
  Outcome o;
  o.transport = Outcome::Transport::failed;
  o.http = 200;  // it began and broke off
  o.error = "connection reset";
  auto r = to_response(o);
  EXPECT_EQ(r.code, Code::unavailable);
  EXPECT_EQ(r.http_status, 0);
  EXPECT_EQ(r.message, "connection reset");
}

std::string cut(Lines& lines, std::initializer_list<std::string_view> chunks) {
  std::string out;
  for (auto c : chunks) {
    lines.feed(
        c, [&](std::string_view l) { out += std::string(l) + "|"; }, [&] { out += "DROPPED|"; });
  }
  return out;
}

TEST(Lines, AreCutWhereverTheChunksEnd) {
  const std::string text = "one\ntwo\n\nthree\n";
  for (size_t a = 0; a <= text.size(); ++a) {
    for (size_t b = a; b <= text.size(); ++b) {
      Lines lines(100);
      const std::string_view t = text;
      EXPECT_EQ(cut(lines, {t.substr(0, a), t.substr(a, b - a), t.substr(b)}), "one|two|three|");
    }
  }
}

TEST(Lines, ATooLongOneIsDroppedWhole) {
  Lines lines(5);
  EXPECT_EQ(cut(lines, {"12345\n123", "456", "789\nabc\n"}), "12345|DROPPED|abc|");
  Lines endless(5);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(cut(endless, {"xxxx"}), "");
  EXPECT_EQ(cut(endless, {"\nabc\n"}), "DROPPED|abc|");
}

TEST(Discovery, FindsAndForgets) {
  using namespace std::chrono_literals;
  Discovery d;
  EXPECT_EQ(Discovery::path("", ""), "/api/v1");
  EXPECT_EQ(Discovery::path("apps", ""), "/apis/apps");
  EXPECT_EQ(Discovery::preferred(R"({"preferredVersion":{"version":"v2"}})"), "v2");
  EXPECT_EQ(Discovery::preferred("nonsense"), "");
  d.set_preferred("apps", "v1");
  EXPECT_TRUE(
      d.learn("apps", "v1",
              R"({"resources":[{"name":"replicasets/status","kind":"ReplicaSet","namespaced":true},
      {"name":"replicasets","kind":"ReplicaSet","namespaced":true}, 7]})",
              0s)
          .ok());
  EXPECT_EQ(
      d.find("apps", "", "ReplicaSet", 1s),
      R"({"group":"apps","version":"v1","resource":"replicasets","kind":"ReplicaSet","namespaced":true})");
  EXPECT_FALSE(d.find("apps", "v1", "Goose", 1s));
  EXPECT_FALSE(d.find("apps", "v1", "ReplicaSet", 11min));
  EXPECT_FALSE(d.learn("apps", "v1", "[]", 0s).ok());
}

}  // namespace
}  // namespace davit::cluster_kubernetes
