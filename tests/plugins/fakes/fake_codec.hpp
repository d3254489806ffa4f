// A codec for tests: a "message" is one bytes field that holds the JSON text, field 2 for types
// that end in "State" (so that a state message says delete) and field 1 for all others. A JSON text
// with "unknown" in it is refused.
#pragma once

#include <davit/host.hpp>

namespace davit::testing {

inline std::string fake_message(std::string_view json, bool state = false) {
  std::string out(1, state ? '\x12' : '\x0a');
  size_t n = json.size();
  for (; n >= 0x80; n >>= 7) out.push_back(static_cast<char>(n | 0x80));
  out.push_back(static_cast<char>(n));
  return out + std::string(json);
}

inline const davit_codec* fake_codec() {
  static const davit_codec t = {
      sizeof t,
      [](const davit_host*, davit_bytes, const davit_str*, size_t, const davit_schema** out,
         davit_error*) -> int32_t {
        static const int schema = 0;
        *out = reinterpret_cast<const davit_schema*>(&schema);
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes m, const davit_sink* out,
         davit_error* e) -> int32_t {
        const std::string_view v = view(m);
        const size_t at = v.find('{');
        if (at == std::string_view::npos) return fill(e, {Code::invalid_argument, "is no message"});
        emit(out, v.substr(at));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str type, davit_str json, const davit_sink* out,
         davit_error* e) -> int32_t {
        if (view(json).find("unknown") != std::string_view::npos) {
          return fill(e, {Code::invalid_argument, "unknown field", "unknown"});
        }
        emit(out, fake_message(view(json), view(type).ends_with("State")));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes a, davit_bytes b) -> int32_t {
        return view(a) == view(b);
      }};
  return &t;
}

}  // namespace davit::testing
