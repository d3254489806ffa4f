// The sample's schema, and short names for what the tests call.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <google/protobuf/arena.h>

#include "codec/equal.hpp"
#include "codec/from_json.hpp"
#include "codec/schema.hpp"
#include "codec/to_json.hpp"
#include "codec_sample.h"

namespace davit::host {

inline const davit_schema& sample() {
  static const auto schema = make_schema(
      view(codec_sample()), {"sample.v1.Everything.healthcheck", "sample.v1.Everything.policy",
                             "sample.v1.Everything.documents"});
  if (!schema.ok()) throw std::runtime_error(schema.error().message);
  return **schema;
}

constexpr std::string_view everything = "sample.v1.Everything";

// The message's bytes; a test that gets none fails.
inline std::string bytes_of(std::string_view json) {
  auto r = from_json(sample(), everything, json);
  if (!r.ok()) ADD_FAILURE() << r.error().where << ": " << r.error().message << " in " << json;
  return r.ok() ? *r : std::string();
}

inline std::string json_of(std::string_view bytes) {
  auto r = to_json(sample(), everything, bytes);
  if (!r.ok()) ADD_FAILURE() << r.error().message;
  return r.ok() ? *r : std::string();
}

}  // namespace davit::host
