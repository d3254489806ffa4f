// An operator's JSON as every message the server accepts: refused with a reason, or read; and what
// was read is shown and read again without a change.
#include "choice.hpp"
#include "codec/equal.hpp"
#include "codec/from_json.hpp"
#include "codec/to_json.hpp"
#include "messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davit;
  const auto [type, text] = fuzz::choose(data, size);
  const davit_schema& schema = fuzz::schema_of(type);
  const auto bytes = host::from_json(schema, type, text);
  if (!fuzz::sound(bytes, type, text).ok()) return 0;

  const auto json = host::to_json(schema, type, *bytes);
  fuzz::require(json.ok(), "what from_json made, to_json shows",
                json.ok() ? "" : json.error().message);
  const auto back = host::from_json(schema, type, *json);
  fuzz::require(back.ok(), "what to_json shows, from_json reads",
                back.ok() ? "" : *json + "\n" + back.error().message);
  fuzz::require(host::equal_messages(schema, type, *bytes, *back),
                "the message survives the way through JSON", *json);
  return 0;
}
