// A watch's flow as a test sees it: what it says as text, and short ways to play the server.
#pragma once

#include "watch_flow.hpp"

#include <gtest/gtest.h>

#include "kubernetes/json_scan.hpp"

namespace davit::cluster_kubernetes {

using std::chrono::milliseconds;

class Flow : public testing::Test {
 protected:
  Flow() = default;
  Flow(const cluster::WatchRequest& q, const std::string& path) : flow(q, path, {}) {}
  static cluster::WatchRequest request(std::string version = {}, std::string labels = {},
                                       bool metadata = false) {
    cluster::WatchRequest q;
    q.resource = {"", "v1", "pods"};
    q.resource_version = std::move(version);
    q.label_selector = std::move(labels);
    q.metadata_only = metadata;
    return q;
  }
  void SetUp() override { flow.grant(1000); }
  // "RESTART, +a@5, SYNCED, !message"
  std::string take() {
    std::string out;
    while (auto item = flow.take()) {
      if (!out.empty()) out += ", ";
      const std::string name(
          kubernetes::json_plain_string(kubernetes::json_at(item->object, {"metadata", "name"}))
              .value_or("?"));
      switch (item->type) {
        case DAVIT_WATCH_RESTART:
          out += "RESTART";
          break;
        case DAVIT_WATCH_SYNCED:
          out += "SYNCED";
          break;
        case DAVIT_WATCH_TROUBLE:
          out += "!" + item->object;
          break;
        case DAVIT_WATCH_REFUSED:
          out += "NO " + item->object;
          break;
        case DAVIT_WATCH_ADDED:
          out += "+" + name;
          break;
        case DAVIT_WATCH_MODIFIED:
          out += "*" + name;
          break;
        case DAVIT_WATCH_DELETED:
          out += "-" + name;
          break;
      }
      last = item->object;
    }
    return out;
  }
  void event(std::string type, std::string name, int version) {
    flow.data(R"({"type":")" + type +
              R"(","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
              R"(","resourceVersion":")" + std::to_string(version) + "\"}}}\n");
  }
  void bookmark(int version, bool end) {
    flow.data(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":")" +
              std::to_string(version) + "\"" +
              (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") + "}}}\n");
  }
  static Outcome http(int status, std::string body = {}, Pairs headers = {}) {
    Outcome o;
    o.http = status;
    o.body = std::move(body);
    o.headers = std::move(headers);
    return o;
  }
  static Outcome broken(std::string error, int status = 0) {
    Outcome o;
    o.transport = Outcome::Transport::failed;
    o.error = std::move(error);
    o.http = status;
    return o;
  }
  static std::string list_at(const std::string& version) {
    return R"({"kind":"PodList","metadata":{"resourceVersion":")" + version + R"("},"items":[]})";
  }
  // The step after a connection has ended, once the API server has said which version it is at.
  WatchFlow::Step resume(const std::string& version) {
    const auto look = flow.next(0);
    EXPECT_EQ(look.path, "/api/v1/pods?limit=1");
    EXPECT_FALSE(look.stream);
    EXPECT_EQ(flow.ended(http(200, list_at(version)), 0), milliseconds(0));
    return flow.next(0);
  }
  void sync(int version) {
    flow.next(0);
    bookmark(version, true);
    take();
  }
  WatchFlow flow{request(), "/api/v1/pods", {}};
  std::string last;
};

}  // namespace davit::cluster_kubernetes
