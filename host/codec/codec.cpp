#include "codec.hpp"

#include <google/protobuf/stubs/logging.h>
#include <algorithm>

#include "equal.hpp"
#include "from_json.hpp"
#include "schema.hpp"
#include "to_json.hpp"

#include "extension.hpp"

namespace davit::host {

namespace {

template <class Convert>
int32_t convert(const davit_sink* out, davit_error* error, Convert&& work) {
  return guard(error, [&]() -> Result<> {
    const Result<std::string> r = work();
    if (!r.ok()) return r.error();
    emit(out, *r);
    return {};
  });
}

int32_t to_json_slot(const davit_schema* schema, davit_str type, davit_bytes message,
                     const davit_sink* out, davit_error* error) {
  return convert(out, error, [&] { return to_json(*schema, view(type), view(message)); });
}

int32_t from_json_slot(const davit_schema* schema, davit_str type, davit_str json,
                       const davit_sink* out, davit_error* error) {
  return convert(out, error, [&] { return from_json(*schema, view(type), view(json)); });
}

int32_t equal_slot(const davit_schema* schema, davit_str type, davit_bytes a, davit_bytes b) {
  int32_t same = 0;
  guard(nullptr, [&]() -> Result<> {
    same = equal_messages(*schema, view(type), view(a), view(b)) ? 1 : 0;
    return {};
  });
  return same;
}

class CodecExtension : public Extension {
 public:
  const void* service(std::string_view id) const override {
    return id == DAVIT_CODEC ? codec_.table() : nullptr;
  }

 private:
  Codec codec_;
};

}  // namespace

Codec::Codec()
    : table_{{sizeof(davit_codec), &Codec::load_slot, &to_json_slot, &from_json_slot, &equal_slot},
             this} {
  // By default protobuf writes complaints about bad input to standard error. Callers get an error
  // instead.
  google::protobuf::SetLogHandler(nullptr);
}

Codec::~Codec() = default;

int32_t Codec::load_slot(const davit_host* host, davit_bytes set, const davit_str* json_fields,
                         size_t count, const davit_schema** out, davit_error* error) {
  return guard(error, [&]() -> Result<> {
    const auto* table = static_cast<const Table*>(host->query(host, str(DAVIT_CODEC)));
    std::vector<std::string> fields;
    for (size_t i = 0; i < count; ++i) fields.push_back(davit::text(json_fields[i]));
    const auto schema = table->owner->load(view(set), std::move(fields));
    if (!schema.ok()) return schema.error();
    *out = *schema;
    return {};
  });
}

Result<const davit_schema*> Codec::load(std::string_view descriptor_set,
                                        std::vector<std::string> json_fields) {
  std::sort(json_fields.begin(), json_fields.end());
  std::string key(descriptor_set);
  for (const auto& field : json_fields) key += '\0' + field;
  const std::lock_guard lock(mutex_);
  auto& slot = schemas_[std::move(key)];
  if (!slot) {
    auto made = make_schema(descriptor_set, json_fields);
    if (!made.ok()) return made.error();
    slot = std::move(*made);
  }
  return slot.get();
}

std::unique_ptr<Extension> make_codec(const Core&) {
  return std::make_unique<CodecExtension>();
}

}  // namespace davit::host
