// How much of the store is read at once where all of it is gone through.
#pragma once

#include <cstdint>

#include <davit/types.hpp>

namespace davit::desired {

inline constexpr uint32_t records_per_page = 1000;
inline constexpr uint64_t bytes_per_page = 4 << 20;

// Why a reading of many pages ends before them: nobody wants it, or it would not end.
Error given_up();
Error stands_still();

}  // namespace davit::desired
