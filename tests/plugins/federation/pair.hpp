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
  // It was made of the upstream object u1.
  static json::object down(const std::string& more, const std::string& meta = "",
                           const std::string& of = "u1") {
    return object(R"("uid":"d1","resourceVersion":"70","generation":3,)"
                  R"("annotations":{"davit.dev/upstream-uid":")" +
                      of + R"("})" + (meta.empty() ? "" : "," + meta),
                  more);
  }
  Action act() const {
    Picture p;
    p.upstream = u ? &*u : nullptr;
    p.downstream = d ? &*d : nullptr;
    p.upstream_complete = upstream_complete;
    p.downstream_complete = downstream_complete;
    p.hidden = hidden;
    return decide(rules, p, written);
  }
  Does does() const { return act().does; }
};

inline const std::string leaving = R"("deletionTimestamp":"2026-01-01T00:00:00Z")";

}  // namespace davit::federation::test
