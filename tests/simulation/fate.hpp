// What goes wrong, and how long everything takes: one seeded generator for the whole simulation, so
// that a seed is a story. At peace nothing goes wrong any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace davit::simulation {

class Fate {
 public:
  explicit Fate(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(double share) { return static_cast<double>(random_() >> 11) * 0x1p-53 < share; }
  // A fault: counted, and never at peace.
  bool strikes(double share) {
    const bool now = chance(share) && !peace_;
    faults_ += now ? 1 : 0;
    return now;
  }
  // Mostly around a millisecond, sometimes a thousand times that; of what is slow always.
  std::chrono::nanoseconds delay(bool slow = false) {
    const auto usual = std::chrono::microseconds(100 + below(2'000));
    return (slow && !peace_) || strikes(0.01) ? usual * 1'000 : usual;
  }

  void make_peace() { peace_ = true; }
  uint64_t faults() const { return faults_; }

 private:
  std::mt19937_64 random_;
  bool peace_ = false;
  uint64_t faults_ = 0;
};

}  // namespace davit::simulation
