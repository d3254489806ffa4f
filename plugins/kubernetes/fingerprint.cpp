#include "fingerprint.hpp"

#include <boost/json.hpp>

#include "json.hpp"

namespace davit::kubernetes {
namespace json = boost::json;
namespace {

constexpr uint64_t fnv_offset = 0xcbf29ce484222325u, fnv_prime = 0x100000001b3u;

// Spreads every bit over the word, so that sums of hashes do not cancel out.
uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

// None of a short text: a number must not look like one.
uint64_t hash_number(uint64_t number) {
  return mix(mix(number) ^ 17);
}

uint64_t hash_scalar(const json::value& v) {
  switch (v.kind()) {
    case json::kind::string:
      return hash_bytes(text_of(&v), 1);
    case json::kind::bool_:
      return mix(v.get_bool() ? 3 : 2);
    case json::kind::int64:
      return hash_number(static_cast<uint64_t>(v.get_int64()));
    case json::kind::uint64:
      return hash_number(v.get_uint64());
    case json::kind::double_:
      return hash_bytes(json::serialize(v), 5);
    default:
      return mix(7);  // null
  }
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  uint64_t h = fnv_offset ^ seed;
  for (const char c : bytes) h = (h ^ static_cast<uint8_t>(c)) * fnv_prime;
  return mix(h);
}

uint64_t fingerprint(const json::value& value) {
  if (const auto* object = value.if_object()) {
    uint64_t sum = 11;
    for (const auto& [key, v] : *object) {
      sum += mix(hash_bytes({key.data(), key.size()}, 9) ^ (fingerprint(v) * fnv_prime));
    }
    return mix(sum);
  }
  if (const auto* array = value.if_array()) {
    uint64_t h = 13;
    for (const auto& v : *array) h = mix(h * fnv_prime + fingerprint(v));
    return h;
  }
  return hash_scalar(value);
}

uint64_t projection(const json::value* observed, const json::value& shape) {
  if (observed == nullptr) return hash_scalar({});
  if (const auto* wanted = shape.if_object(); wanted != nullptr && observed->is_object()) {
    uint64_t sum = 11;
    for (const auto& [key, v] : *wanted) {
      const uint64_t inner = projection(observed->get_object().if_contains(key), v);
      sum += mix(hash_bytes({key.data(), key.size()}, 9) ^ (inner * fnv_prime));
    }
    return mix(sum);
  }
  const auto* wanted = shape.if_array();
  if (wanted != nullptr && observed->is_array() && observed->get_array().size() == wanted->size()) {
    uint64_t h = 13;
    for (size_t i = 0; i < wanted->size(); ++i) {
      h = mix(h * fnv_prime + projection(&observed->get_array()[i], (*wanted)[i]));
    }
    return h;
  }
  return fingerprint(*observed);
}

std::string hex(uint64_t hash) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (size_t i = 0; i < 16; ++i) out[15 - i] = digits[hash >> (4 * i) & 15];
  return out;
}

}  // namespace davit::kubernetes
