// The messages that the tests begin from, and what reconcile makes of them.
#pragma once

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "fakes/planned.hpp"
#include "manifest.hpp"
#include "reconcile.hpp"

namespace davit::manifest::test {

namespace json = boost::json;

inline json::object object(const char* version, const char* kind, const char* name,
                           json::object more = {}) {
  json::object out{{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}}}};
  for (const auto& [key, value] : more) out[key] = value;
  return out;
}
inline json::object config_map(const char* name, const char* value = "1") {
  return object("v1", "ConfigMap", name, {{"data", {{"key", value}}}});
}
inline json::object message(json::array objects) {
  return {{"namespace", "shop"}, {"name", "web"}, {"objects", std::move(objects)}};
}

inline Site site_with(std::initializer_list<const char*> kinds) {
  Site site;
  site.kinds.clear();
  for (const char* text : kinds) site.kinds.push_back(*read_allowed_kind(text));
  return site;
}

// "path: message" of what validate refuses; empty: nothing.
inline std::string fault_of(const std::string& text, const Site& site = {}) {
  const auto r = validate(text, site);
  return r.ok() ? "" : r.error().where + ": " + r.error().message;
}
inline std::string fault_of(const json::object& m, const Site& site = {}) {
  return fault_of(json::serialize(m), site);
}

using testing::landed;

// The whole answer. `desired` NULL: the record is deleted.
inline json::object answered(const json::object* desired, const json::array& observed,
                             const Site& site = {}) {
  return testing::planned({{"id", "shop.web"},
                           {"region", "eu-1"},
                           {"namespace", "shop"},
                           {"name", "web"},
                           {"version", "17"}},
                          desired, observed,
                          [&](const std::string& input) { return reconcile(input, site); });
}

// "ConfigMap/a Deployment/web", in their order.
inline std::string applied(const json::object& answer) {
  std::string out;
  for (const json::value& o : landed(answer)) {
    out += (out.empty() ? "" : " ") + std::string(o.at("kind").as_string()) + "/" +
           std::string(o.at_pointer("/metadata/name").as_string());
  }
  return out;
}
inline std::string deleted(const json::object& answer) {
  std::string out;
  for (const auto& d : answer.at("delete").as_array()) {
    out += (out.empty() ? "" : " ") + std::string(d.at("resource").as_string()) + "/" +
           std::string(d.at("name").as_string());
  }
  return out;
}

}  // namespace davit::manifest::test
