// The operator's documents, for every kind: refused with the field's name, or made into a record
// that survives being shown and applied again.
#include <davit/v1/operator.pb.h>

#include "choice.hpp"
#include "decision.hpp"
#include "document.hpp"
#include "kinds.hpp"
#include "page_token.hpp"
#include "require.hpp"

namespace {

using namespace davit;

const desired::Kinds& kinds() {
  static const fuzz::Kinds loaded(FUZZ_KINDS);
  static const auto found = [] {
    auto r = desired::Kinds::find(loaded.host());
    fuzz::require(r.ok(), "the kinds are found", r.ok() ? "" : r.error().message);
    return std::move(*r);
  }();
  return found;
}

void on_document(const v1::Document& document) {
  const auto record = desired::to_record(kinds(), desired::from_wire(document));
  if (!fuzz::sound(record, "document", document.spec_json()).ok()) return;
  const desired::Kind* kind = kinds().get(record->key.kind);
  const auto same = [kind](std::string_view a, std::string_view b) {
    return kind->schema.equal(kind->client.description().apply_type, a, b);
  };
  fuzz::require(record->key.region == document.region() && !record->key.id.empty(),
                "a record has its document's key");

  v1::StoredRecord shown;
  desired::to_wire(*record, Incarnation{}, &shown);
  std::string wire = shown.SerializeAsString();
  fuzz::require(shown.ParseFromString(wire), "a stored record can be sent");
  const auto again = desired::to_record(kinds(), desired::from_wire(shown.document()));
  fuzz::require(again.ok(), "what is shown can be applied",
                again.ok() ? "" : again.error().message);

  Record stored = *record;
  stored.version = 17;
  const auto decision = desired::decide_apply(*again, stored, same);
  fuzz::require(decision.type == desired::OutcomeType::unchanged && decision.version == 17,
                "applying what is shown changes nothing", record->json + "\n" + again->json);
  const auto removed = desired::decide_delete(stored.key, stored, "fuzz");
  fuzz::require(removed.mutation && !removed.mutation->record.live, "what is live can be deleted");
}

void on_request(std::string_view bytes) {
  v1::ApplyRequest message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  for (const auto& document : message.documents()) on_document(document);
}

// "kind\n{spec}", so that mutation works on the spec itself.
void on_spec(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  v1::Document document;
  document.set_kind(std::string(text.substr(0, end)));
  document.set_region("us-east-1");
  document.set_spec_json(std::string(text.substr(std::min(end + 1, text.size()))));
  if (!document.ParseFromString(document.SerializeAsString()))
    return;  // no text: it never reaches the plugin
  on_document(document);
}

void on_page_token(std::string_view token) {
  const auto cursor = desired::from_token(token);
  if (!fuzz::no_bug(cursor, "page token").ok()) return;
  const auto again = desired::from_token(desired::to_token(*cursor));
  fuzz::require(
      again.ok() && again->incarnation == cursor->incarnation && again->version == cursor->version,
      "a token that is read is one that can be given");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "davit.v1.ApplyRequest") on_request(rest);
  if (entry == "spec") on_spec(rest);
  if (entry == "page_token") on_page_token(rest);
  return 0;
}
