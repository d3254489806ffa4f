// A world with two records, "keep" and "drop", of which the store no longer names the second.
#pragma once

#include <gtest/gtest.h>

#include "world.hpp"

namespace davit::applier::test {

struct PruneWorld : World {
  explicit PruneWorld(const testing::Config& c = {}) : World(c) {
    begin(true);
    apply("keep", 10);
    apply("drop", 11);
    end(2, 11);
    wait();
    EXPECT_EQ(replica_sets(), "drop keep");
  }
  // A new process hears a snapshot without "drop" before its watches can be trusted.
  void hear_while_blind() {
    blind();
    restart();
    begin(true);
    apply("keep", 10);
    end(1, 12);
  }
  // The object as somebody may save it, to create it again.
  std::string without_uid(const std::string& name) {
    json::value out = replica_set(name);
    for (const char* member : {"uid", "resourceVersion", "managedFields"})
      out.at("metadata").as_object().erase(member);
    return json::serialize(out);
  }
  void create(const std::string& object) {
    call(DAVIT_VERB_CREATE, "replicasets", "acme", "", object);
  }
  // "drop" is left alone, and said to be.
  void expect_orphan() {
    EXPECT_EQ(replica_sets(), "drop keep");
    EXPECT_EQ(issues["drop"], "orphaned");
  }
};

}  // namespace davit::applier::test
