#include "document.hpp"

#include <algorithm>

#include <davit/v1/operator.pb.h>

namespace davit::desired {

namespace {

// What a store takes; and a longer value was pasted by mistake.
constexpr size_t name_bytes_max = DAVIT_NAME_BYTES_MAX;

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
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

Result<Record> to_record(const Kinds& kinds, const records::Document& d) {
  if (d.key.kind.empty())
    return bad("kind", "is missing (this server knows " + kinds.names() + ")");
  const Kind* kind = kinds.get(d.key.kind);
  if (kind == nullptr) return kinds.unknown(d.key.kind);
  if (auto r = usable("region", d.key.region); !r.ok()) return r.error();
  if (d.spec.empty()) return bad("spec", "is missing");

  const auto& description = kind->client.description();
  auto payload = kind->schema.from_json(description.apply_type, d.spec);
  if (!payload.ok()) return in_spec(payload.error());
  auto json = kind->schema.to_json(description.apply_type, *payload);
  if (!json.ok()) return in_spec(json.error());
  if (auto r = kind->client.validate(*json); !r.ok()) return of_kind(d.key.kind, r.error());
  auto named = kind->client.identify(*json);
  if (!named.ok()) return of_kind(d.key.kind, named.error());

  if (!d.key.id.empty() && d.key.id != named->id) {
    return bad("id", "\"" + d.key.id + "\" is not the id in the spec, \"" + named->id + "\"");
  }
  if (auto r = usable("id", named->id); !r.ok()) return r.error();

  Record out;
  out.key = {d.key.kind, d.key.region, named->id};
  out.ns = named->ns;
  out.name = named->name;
  out.state = d.state.empty() ? description.default_state : d.state;
  if (out.state == "deleted")
    return bad("state", "\"deleted\" cannot be set: delete the record instead");
  const auto verdict = kind->client.classify(out.state, *json);
  if (!verdict.ok()) return verdict.error().in("kind " + d.key.kind);
  if (*verdict == kind::Class::unhandled) {
    return bad("state", "kind " + d.key.kind + " does not handle \"" + out.state + "\"");
  }
  out.live = *verdict == kind::Class::apply;
  out.payload = std::move(*payload);
  out.json = std::move(*json);
  out.annotations = d.annotations;
  std::sort(out.annotations.begin(), out.annotations.end());
  const auto twin =
      std::adjacent_find(out.annotations.begin(), out.annotations.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twin != out.annotations.end())
    return bad("annotations", "\"" + twin->first + "\" is given twice");
  return out;
}

Record as_shown(const Kinds& kinds, const davit_record& record) {
  Record out = from_abi(record);
  if (out.json.empty()) write_json(kinds, out);
  return out;
}

void write_json(const Kinds& kinds, Record& record) {
  const Kind* kind = kinds.get(record.key.kind);
  if (kind == nullptr) return;
  auto json = kind->schema.to_json(kind->client.description().apply_type, record.payload);
  if (json.ok()) record.json = std::move(*json);
}

records::Document from_wire(const v1::Document& d) {
  return {{d.kind(), d.region(), d.id()},
          d.state(),
          d.spec_json(),
          {d.annotations().begin(), d.annotations().end()},
          d.has_version() ? Version(d.version()) : any_version};
}

void to_wire(const Record& r, v1::Document* out) {
  out->set_kind(r.key.kind);
  out->set_region(r.key.region);
  out->set_id(r.key.id);
  out->set_state(r.state);
  out->set_spec_json(r.json);
  for (const auto& [key, value] : r.annotations) (*out->mutable_annotations())[key] = value;
}

void to_wire(const Record& r, Incarnation read_in, v1::StoredRecord* out) {
  to_wire(r, out->mutable_document());
  out->set_incarnation(read_in.value());
  out->set_namespace_(r.ns);
  out->set_name(r.name);
  out->set_version(r.version.value());
  out->set_live(r.live);
  out->set_committed_at_unix_ms(r.committed_at_unix_ms);
  out->set_author(r.author);
}

}  // namespace davit::desired
