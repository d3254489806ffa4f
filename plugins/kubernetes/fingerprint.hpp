// Fingerprints of JSON values: numbers of 64 bits, so that values can be compared without keeping
// them. They are the same on every machine, and no protection against forgery. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

namespace davit::kubernetes {

uint64_t hash_bytes(std::string_view bytes, uint64_t seed);

// A hash of the value by meaning: the order of an object's members does not count.
uint64_t fingerprint(const boost::json::value& value);
// The same hash of `observed`, cut to the shape of `shape`. Of an object only the members that
// `shape` has count. Arrays of the same length are cut element by element. Anything else counts as
// a whole. So what the API server adds (defaults, status) does not count, and what it rewrites
// (quantities) gives the same hash each time.
uint64_t projection(const boost::json::value* observed, const boost::json::value& shape);

// A hash as 16 hexadecimal digits.
std::string hex(uint64_t hash);

}  // namespace davit::kubernetes
