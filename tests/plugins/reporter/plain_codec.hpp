// A codec for tests whose messages are their texts.
#pragma once

#include <davit/host.hpp>

namespace davit::reporter {

inline const davit_codec* plain_codec() {
  static const davit_codec codec = {
      sizeof(davit_codec),
      [](const davit_host*, davit_bytes, const davit_str*, size_t, const davit_schema** out,
         davit_error*) {
        static const char schema = 0;
        *out = reinterpret_cast<const davit_schema*>(&schema);
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes message, const davit_sink* sink,
         davit_error*) {
        sink->write(sink->ctx, message);
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_str text, const davit_sink* sink, davit_error*) {
        sink->write(sink->ctx, bytes(view(text)));
        return DAVIT_OK;
      },
      [](const davit_schema*, davit_str, davit_bytes a, davit_bytes b) {
        return view(a) == view(b) ? 1 : 0;
      }};
  return &codec;
}

}  // namespace davit::reporter
