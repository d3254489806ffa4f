// Draws the number of a new incarnation.
#pragma once

#include <cstdint>
#include <random>

#include <davit/number.hpp>

namespace davit::storage_sqlite {

// Two copies of one file must not draw the same number. So this number does not come from the
// host's clock or randomness, which tests repeat. It has 63 bits, because SQLite's integers are
// signed.
inline Incarnation new_incarnation() {
  std::random_device device;
  return Incarnation(((uint64_t{device()} << 32 | device()) & INT64_MAX) | 1);
}

}  // namespace davit::storage_sqlite
