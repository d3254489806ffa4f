#include <chrono>
#include <random>

#include "tables.hpp"

namespace davit::host {
namespace {

template <class Clock>
int64_t nanoseconds_of() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

uint64_t random_number() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(),
                       device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return generator();
}

}  // namespace

const davit_clock& clock_service() {
  static const davit_clock table = {
      sizeof(davit_clock),
      [](const davit_host*) noexcept { return nanoseconds_of<std::chrono::system_clock>(); },
      [](const davit_host*) noexcept { return nanoseconds_of<std::chrono::steady_clock>(); },
      [](const davit_host*) noexcept { return random_number(); }};
  return table;
}

}  // namespace davit::host
