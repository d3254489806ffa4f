#include "fixture.hpp"

namespace davit::cluster_memory {
namespace {

class Watching : public Simulation {
 protected:
  Watch start(uint32_t credit, cluster::WatchRequest q = {}, size_t queue_max = 100) {
    store.take_events();
    if (q.resource.resource.empty()) q.resource = {"", "v1", "configmaps"};
    auto w = Watch::make(q, credit, queue_max);
    EXPECT_TRUE(w.ok());
    w->begin(store);
    return std::move(*w);
  }
  // "RESTART, +a, SYNCED, *a, -a": what is delivered now.
  std::string take(Watch& w) {
    for (const auto& e : store.take_events()) w.offer(e);
    std::string out;
    while (auto item = w.next(store)) {
      last = json::parse(item->object).as_object();
      const std::string name(string_at(last, {"metadata", "name"}));
      if (!out.empty()) out += ", ";
      out += item->type == DAVIT_WATCH_RESTART    ? "RESTART"
             : item->type == DAVIT_WATCH_SYNCED   ? "SYNCED"
             : item->type == DAVIT_WATCH_ADDED    ? "+" + name
             : item->type == DAVIT_WATCH_MODIFIED ? "*" + name
                                                  : "-" + name;
    }
    return out;
  }
  void label(std::string name, std::string value) {
    call("merge", "v1/configmaps", "default", name,
         R"({"metadata":{"labels":{"app":")" + value + R"("}}})");
  }
  json::object last;
};

TEST_F(Watching, StateComesFirstThenChanges) {
  apply_map("a", "{}");
  auto w = start(100);
  EXPECT_EQ(take(w), "RESTART, +a, SYNCED");
  apply_map("b", "{}");
  apply_map("a", R"({"k":"v"})");
  call("delete", "v1/configmaps", "default", "a");
  EXPECT_EQ(take(w), "+b, *a, -a");
}

TEST_F(Watching, NothingComesWithoutCredit) {
  apply_map("a", "{}");
  apply_map("b", "{}");
  auto w = start(0);
  EXPECT_EQ(take(w), "");
  w.grant(2);
  EXPECT_EQ(take(w), "RESTART, +a");
  w.grant(1);
  EXPECT_EQ(take(w), "+b");
  w.grant(5);
  EXPECT_EQ(take(w), "SYNCED");
}

TEST_F(Watching, SelectorsSeeObjectsComeAndGo) {
  cluster::WatchRequest q;
  q.label_selector = "app=web";
  apply_map("a", "{}");
  auto w = start(100, q);
  EXPECT_EQ(take(w), "RESTART, SYNCED");
  label("a", "web");
  EXPECT_EQ(take(w), "+a");
  apply_map("a", R"({"k":"v"})");
  EXPECT_EQ(take(w), "*a");
  label("a", "other");
  EXPECT_EQ(take(w), "-a");
  call("delete", "v1/configmaps", "default", "a");
  EXPECT_EQ(take(w), "");
}

TEST_F(Watching, DeletionCarriesAYoungerVersion) {
  auto made = apply_map("a", "{}");
  auto w = start(100);
  take(w);
  call("delete", "v1/configmaps", "default", "a");
  take(w);
  EXPECT_GT(std::stoull(std::string(string_at(last, {"metadata", "resourceVersion"}))),
            std::stoull(text(made, {"metadata", "resourceVersion"})));
}

TEST_F(Watching, MetadataOnlyLeavesTheRestOut) {
  cluster::WatchRequest q;
  q.metadata_only = true;
  auto w = start(100, q);
  apply_map("a", R"({"k":"v"})");
  take(w);
  EXPECT_EQ(string_at(last, {"kind"}), "PartialObjectMetadata");
  EXPECT_EQ(last.if_contains("data"), nullptr);
}

TEST_F(Watching, ResumesAfterAVersion) {
  const auto a = apply_map("a", "{}");
  apply_map("b", "{}");
  cluster::WatchRequest q;
  q.resource_version = text(a, {"metadata", "resourceVersion"});
  auto w = start(100, q);
  EXPECT_EQ(take(w), "+b");
}

TEST_F(Watching, BeginsAnewWhenTheVersionIsForgotten) {
  apply_map("a", "{}");
  for (size_t i = 0; i < Store::history_limit + 10; ++i)
    apply_map("b", R"({"k":")" + std::to_string(i) + R"("})");
  cluster::WatchRequest q;
  q.resource_version = "5";
  auto w = start(100, q);
  EXPECT_EQ(take(w), "RESTART, +a, +b, SYNCED");
}

TEST_F(Watching, BeginsAnewWhenItFallsTooFarBehind) {
  auto w = start(2, {}, 3);
  EXPECT_EQ(take(w), "RESTART, SYNCED");
  for (int i = 0; i < 20; ++i) apply_map("a", R"({"k":")" + std::to_string(i) + R"("})");
  EXPECT_EQ(take(w), "");
  w.grant(100);
  EXPECT_EQ(take(w), "RESTART, +a, SYNCED");
  apply_map("a", R"({"k":"last"})");
  EXPECT_EQ(take(w), "*a");
}

TEST_F(Watching, WhatItMissedOfOthersMakesItsQueueNoLonger) {
  cluster::WatchRequest q;
  q.resource_version = text(apply_map("a", "{}"), {"metadata", "resourceVersion"});
  q.field_selector = "metadata.name=a";
  for (int i = 0; i < 5; ++i) apply_map("b", R"({"k":")" + std::to_string(i) + R"("})");
  auto w = start(0, q, 1);
  for (int i = 0; i < 2; ++i) apply_map("a", R"({"k":")" + std::to_string(i) + R"("})");
  EXPECT_EQ(take(w), "");
  w.grant(100);
  EXPECT_EQ(take(w), "RESTART, +a, SYNCED");
}

TEST_F(Watching, OneNamespaceDoesNotSeeAnother) {
  cluster::WatchRequest q;
  q.ns = "kube-system";
  auto w = start(100, q);
  apply_map("a", "{}");
  EXPECT_EQ(take(w), "RESTART, SYNCED");
}

}  // namespace
}  // namespace davit::cluster_memory
