// One object in two clusters, as decide sees it, written as a test tells it.
#pragma once

#include <boost/json.hpp>
#include <optional>

#include <gtest/gtest.h>

#include "decide.hpp"

namespace davit::federation::test {

inline json::object parsed(const std::string& text) {
  return json::parse(text).as_object();
}

// An object's metadata and what else it has, as JSON without the braces.
inline json::object object(const std::string& meta, const std::string& more = "") {
  return parsed(R"({"apiVersion":"g/v1","kind":"Robot","metadata":{"name":"a","namespace":"n")" +
                (meta.empty() ? "" : "," + meta) + "}" + (more.empty() ? "" : "," + more) + "}");
}

struct Pair {
  Rules rules;
  std::optional<json::object> u, d;
  bool upstream_complete = true, downstream_complete = true, hidden = false;
  Written written;

  Pair() { rules.name = "robots.g"; }

  static json::object up(const std::string& more, const std::string& meta = "") {
    return object(
        R"("uid":"u1","resourceVersion":"10","generation":2)" + (meta.empty() ? "" : "," + meta),
        more);
  }
  // It was made of the upstream object u1. `cluster`: where that is.
  static json::object down(const std::string& more, const std::string& meta = "",
                           const std::string& of = "u1", const std::string& cluster = "") {
    const std::string origin =
        cluster.empty() ? "" : R"(,"davit.dev/upstream-cluster":")" + cluster + "\"";
    return object(R"("uid":"d1","resourceVersion":"70","generation":3,)"
                  R"("annotations":{"davit.dev/upstream-uid":")" +
                      of + "\"" + origin + "}" + (meta.empty() ? "" : "," + meta),
                  more);
  }
  Action act() const {
    Picture p;
    p.upstream = u ? &*u : nullptr;
    p.downstream = d ? &*d : nullptr;
    p.upstream_complete = upstream_complete;
    p.downstream_complete = downstream_complete;
    p.hidden = hidden;
    const Action out = decide(rules, p, written);
    if (!d) return out;
    // The cache has it condensed, which makes no difference.
    json::object condensed = *d;
    condense(rules, condensed);
    p.downstream = &condensed;
    const Action same = decide(rules, p, written);
    EXPECT_EQ(same.does, out.does) << same.why;
    EXPECT_EQ(same.why, out.why);
    EXPECT_EQ(same.hash, out.hash);
    EXPECT_EQ(same.object, out.object);
    EXPECT_EQ(same.uid + "/" + same.resource_version, out.uid + "/" + out.resource_version);
    return out;
  }
  Does does() const { return act().does; }
};

inline const std::string leaving = R"("deletionTimestamp":"2026-01-01T00:00:00Z")";

}  // namespace davit::federation::test
