#include "document.hpp"

#include <algorithm>

#include <davit/v1/operator.pb.h>

namespace davit::desired {

namespace {

// What a store takes; and a longer value was pasted by mistake.
constexpr size_t name_bytes_max = DAVIT_NAME_BYTES_MAX;

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where), {}};
}

// Regions and ids are opaque, but they must fit into a log line, a header and a file name.
Result<> usable(std::string_view field, std::string_view value) {
  if (value.empty()) return bad(std::string(field), "is empty");
  if (value.size() > name_bytes_max) {
    return bad(std::string(field), "is longer than " + std::to_string(name_bytes_max) + " bytes");
  }
  const bool odd = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == '/';
  });
  if (odd) return bad(std::string(field), "has a space, a slash or a control character");
  return {};
}

// "spec" or "spec.<path>".
Error in_spec(const Error& e) {
  Error out = e;
  out.code = Code::invalid_argument;
  out.where = e.where.empty() ? "spec" : "spec." + e.where;
  return out;
}

// A kind that says "later" says nothing about the spec.
Error of_kind(const std::string& kind, const Error& e) {
  return retryable(e.code) ? e.in("kind " + kind) : in_spec(e);
}

}  // namespace

Result<Record> to_record(const Kinds& kinds, const v1::Document& d) {
  if (d.kind().empty()) return bad("kind", "is missing (this server knows " + kinds.names() + ")");
  const Kind* kind = kinds.get(d.kind());
  if (kind == nullptr) return kinds.unknown(d.kind());
  if (auto r = usable("region", d.region()); !r.ok()) return r.error();
  if (d.spec_json().empty()) return bad("spec", "is missing");

  const auto& description = kind->client.description();
  auto payload = kind->schema.from_json(description.apply_type, d.spec_json());
  if (!payload.ok()) return in_spec(payload.error());
  auto json = kind->schema.to_json(description.apply_type, *payload);
  if (!json.ok()) return in_spec(json.error());
  if (auto r = kind->client.validate(*json); !r.ok()) return of_kind(d.kind(), r.error());
  auto named = kind->client.identify(*json);
  if (!named.ok()) return of_kind(d.kind(), named.error());

  if (!d.id().empty() && d.id() != named->id) {
    return bad("id", "\"" + d.id() + "\" is not the id in the spec, \"" + named->id + "\"");
  }
  if (auto r = usable("id", named->id); !r.ok()) return r.error();

  Record out;
  out.key = {d.kind(), d.region(), named->id};
  out.ns = named->ns;
  out.name = named->name;
  out.state = d.state().empty() ? description.default_state : d.state();
  if (out.state == "deleted")
    return bad("state", "\"deleted\" is the store's own word: delete the object instead");
  const auto verdict = kind->client.classify(out.state, *json);
  if (!verdict.ok()) return verdict.error().in("kind " + d.kind());
  if (*verdict == kind::Class::unhandled) {
    return bad("state", "kind " + d.kind() + " does not handle \"" + out.state + "\"");
  }
  out.live = *verdict == kind::Class::apply;
  out.payload = std::move(*payload);
  out.json = std::move(*json);
  out.annotations.assign(d.annotations().begin(), d.annotations().end());
  std::sort(out.annotations.begin(), out.annotations.end());
  return out;
}

void to_wire(const Kind* kind, const Record& r, v1::StoredRecord* out) {
  auto* d = out->mutable_document();
  d->set_kind(r.key.kind);
  d->set_region(r.key.region);
  d->set_id(r.key.id);
  d->set_state(r.state);
  d->set_spec_json(r.json);
  if (r.json.empty() && kind != nullptr) {
    auto json = kind->schema.to_json(kind->client.description().apply_type, r.payload);
    if (json.ok()) d->set_spec_json(*json);
  }
  for (const auto& [key, value] : r.annotations) (*d->mutable_annotations())[key] = value;
  out->set_namespace_(r.ns);
  out->set_name(r.name);
  out->set_version(r.version);
  out->set_live(r.live);
  out->set_committed_at_unix_ms(r.committed_at_unix_ms);
  out->set_author(r.author);
}

}  // namespace davit::desired
