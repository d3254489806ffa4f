// A random time between 0.75 and 1.25 of an interval, so that processes that started together drift
// apart. Lookout and Upkeep use it.
#pragma once

#include <davit/host.hpp>

namespace davit::desired {

inline std::chrono::nanoseconds jittered(const Host& host, std::chrono::milliseconds interval) {
  const double share = 0.75 + 0.5 * static_cast<double>(host.random() % 1024) / 1024;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(interval * share);
}

}  // namespace davit::desired
