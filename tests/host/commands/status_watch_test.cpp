#include "commands/status_watch.hpp"

#include <gtest/gtest.h>

namespace davit::host {
namespace {

v1::ObjectStatus object(const std::string& id, const std::string& health, uint64_t sequence = 1) {
  v1::ObjectStatus out;
  out.set_kind("deployment");
  out.set_region("eu");
  out.set_id(id);
  out.set_state("running");
  out.set_live(true);
  out.mutable_observed()->set_health(health);
  out.mutable_observed()->set_sequence(sequence);
  out.mutable_observed()->set_reported_at_unix_ms(static_cast<int64_t>(sequence) * 1000);
  return out;
}

v1::StatusResponse answer(const std::vector<v1::ObjectStatus>& objects) {
  v1::StatusResponse out;
  for (const auto& o : objects) *out.add_objects() = o;
  return out;
}

std::string shown(const std::vector<v1::ObjectStatus>& news) {
  std::string out;
  for (const auto& o : news)
    out += o.id() + ":" + (o.observed().gone() ? "gone" : o.observed().health()) + " ";
  return out;
}

TEST(StatusNews, AreTheObjectsThatChanged) {
  StatusNews news;
  EXPECT_EQ(shown(news.take(answer({object("a", "healthy"), object("b", "progressing")}))),
            "a:healthy b:progressing ");
  EXPECT_EQ(shown(news.take(answer({object("a", "healthy"), object("b", "healthy")}))),
            "b:healthy ");
}

TEST(StatusNews, AReportThatSaysTheSameIsNone) {
  StatusNews news;
  news.take(answer({object("a", "healthy", 1)}));
  EXPECT_EQ(shown(news.take(answer({object("a", "healthy", 2)}))), "");
}

TEST(StatusNews, WhatIsGoneIsSaidOnce) {
  StatusNews news;
  news.take(answer({object("a", "healthy"), object("b", "healthy")}));
  const auto gone = news.take(answer({object("b", "healthy")}));
  EXPECT_EQ(shown(gone), "a:gone ");
  EXPECT_EQ(gone.at(0).state(), "deleted");
  EXPECT_EQ(shown(news.take(answer({object("b", "healthy")}))), "");
  EXPECT_EQ(shown(news.take(answer({object("a", "healthy"), object("b", "healthy")}))),
            "a:healthy ");
}

}  // namespace
}  // namespace davit::host
