// The domains of what storages keep (abi/storage.h), in one place: the host's commit queue and
// storage::Client check by it, and who takes values from a peer refuses single ones by it.
#pragma once

#include "storage_values.hpp"
#include "utf8.hpp"

namespace davit::storage {

// Remembers the first value that is outside of its domain.
class Domain {
 public:
  Domain& text(std::string_view field, std::string_view value, size_t bytes_max = SIZE_MAX) {
    if (value.size() > bytes_max) {
      fault(field, "has " + std::to_string(value.size()) + " bytes, and may have " +
                       std::to_string(bytes_max));
    }
    if (value.find('\0') != std::string_view::npos)
      fault(field, "has the character U+0000, which databases do not keep");
    if (!valid_utf8(value)) fault(field, "is not valid UTF-8");
    return *this;
  }
  Domain& number(std::string_view field, uint64_t value) {
    if (value > INT64_MAX)
      fault(field,
            "is " + std::to_string(value) + ", and may be at most " + std::to_string(INT64_MAX));
    return *this;
  }
  template <class Purpose>
  Domain& number(std::string_view field, Number<Purpose> n) {
    return number(field, n.value());
  }
  Domain& key(const Key& k) {
    return text("kind", k.kind, DAVIT_KIND_BYTES_MAX)
        .text("region", k.region, DAVIT_REGION_BYTES_MAX)
        .text("id", k.id, DAVIT_NAME_BYTES_MAX);
  }
  Domain& in_cluster(std::string_view ns, std::string_view name) {
    return text("namespace", ns, DAVIT_NAMESPACE_BYTES_MAX)
        .text("name", name, DAVIT_NAME_BYTES_MAX);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void fault(std::string_view field, const std::string& what) {
    if (!error_) error_ = Error{Code::invalid_argument, what, std::string(field)};
  }
  std::optional<Error> error_;
};

// Each `outside` returns nothing when the value may be stored or asked for. The error's `where` is
// the field, and its message goes on from there: "has 254 bytes, and may have 253".
inline std::optional<Error> outside(const Record& r) {
  Domain d;
  d.key(r.key).in_cluster(r.ns, r.name).text("state", r.state, DAVIT_NAME_BYTES_MAX);
  d.text("json", r.json).text("author", r.author);
  d.text("request_id", r.request_id, DAVIT_REQUEST_ID_BYTES_MAX);
  for (const auto& [key, value] : r.annotations)
    d.text("annotations", key).text("annotations", value);
  return d.error();
}
inline std::optional<Error> outside(const Mutation& m) {
  Domain d;
  if (m.expect != any_version) d.number("expect", m.expect);
  return d.error() ? d.error() : outside(m.record);
}
inline std::optional<Error> outside(const Status& s) {
  Domain d;
  d.key(s.key).in_cluster(s.ns, s.name).text("health", s.health, DAVIT_NAME_BYTES_MAX);
  d.text("message", s.message).text("parked", s.parked).text("detail", s.detail);
  for (const Child& c : s.children) {
    d.text("children.name", c.name, DAVIT_NAME_BYTES_MAX);
    d.text("children.address", c.address).text("children.status", c.status);
  }
  d.number("observed_version", s.observed_version).number("epoch", s.epoch);
  d.number("sequence", s.sequence);
  return d.error();
}
inline std::optional<Error> outside(const Progress& p) {
  Domain d;
  d.text("region", p.region, DAVIT_REGION_BYTES_MAX).text("agent", p.agent, DAVIT_NAME_BYTES_MAX);
  d.text("software", p.software).number("epoch", p.epoch);
  for (const KindProgress& k : p.kinds) {
    d.text("kinds", k.kind, DAVIT_KIND_BYTES_MAX);
    d.number("kinds", k.applied.version);
  }
  for (const Issue& i : p.issues) {
    for (const std::string* name : {&i.kind, &i.id, &i.ns, &i.name, &i.condition})
      d.text("issues", *name, DAVIT_NAME_BYTES_MAX);
    d.text("issues", i.reason);
    d.number("issues", i.version);
  }
  return d.error();
}
inline std::optional<Error> outside(const Query& q) {
  return Domain().key(q.key).in_cluster(q.ns, q.name).error();
}
inline std::optional<Error> outside(const AgentRead& q) {
  return Domain()
      .text("region", q.region, DAVIT_REGION_BYTES_MAX)
      .text("after_region", q.after_region, DAVIT_REGION_BYTES_MAX)
      .text("after_agent", q.after_agent, DAVIT_NAME_BYTES_MAX)
      .error();
}
inline std::optional<Error> outside(const Maintain& m) {
  return Domain()
      .text("region", m.forget.region, DAVIT_REGION_BYTES_MAX)
      .text("agent", m.forget.agent, DAVIT_NAME_BYTES_MAX)
      .error();
}
inline std::optional<Error> outside(const Scope& s) {
  return Domain().key({s.kind, s.region, {}}).error();
}

// What davit_storage_limits counts as bytes.
inline uint64_t stored_bytes(const Record& r) {
  uint64_t out = r.key.kind.size() + r.key.region.size() + r.key.id.size() + r.ns.size() +
                 r.name.size() + r.state.size() + r.payload.size() + r.json.size() +
                 r.author.size() + r.request_id.size();
  for (const auto& [key, value] : r.annotations) out += key.size() + value.size();
  return out;
}
inline uint64_t stored_bytes(const Status& s) {
  return s.key.kind.size() + s.key.region.size() + s.key.id.size() + s.ns.size() + s.name.size() +
         s.health.size() + text_bytes(s);
}

}  // namespace davit::storage
