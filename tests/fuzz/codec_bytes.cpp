// Bytes of every message the server accepts: what can be read can be shown, and what is shown reads
// back as the same message.
#include "choice.hpp"
#include "codec/equal.hpp"
#include "codec/from_json.hpp"
#include "codec/to_json.hpp"
#include "messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace davit;
  const auto [type, bytes] = fuzz::choose(data, size);
  const davit_schema& schema = fuzz::schema_of(type);
  fuzz::require(host::equal_messages(schema, type, bytes, bytes), "bytes equal themselves");

  const auto json = host::to_json(schema, type, bytes);
  if (!fuzz::no_bug(json, type).ok()) return 0;
  const auto back = host::from_json(schema, type, *json);
  fuzz::require(back.ok(), "what to_json shows, from_json reads",
                back.ok() ? "" : *json + "\n" + back.error().message);
  // The JSON leaves unknown fields out, so the first bytes may hold more than came back; what came
  // back is whole.
  const auto again = host::to_json(schema, type, *back);
  fuzz::require(again.ok() && *again == *json, "the message survives the way through JSON", *json);
  fuzz::require(host::equal_messages(schema, type, *back, *back), "a message equals itself");
  return 0;
}
