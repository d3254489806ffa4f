// Versions, incarnations and epochs are 64-bit numbers, and none of them stands for another: each
// has a type of its own here. A variable becomes one of these, and back, only where the code says
// so. That is where a number crosses the ABI, or is read from a message or a database or written to
// one. A literal has no purpose of its own, so it may stand for any of them: Cursor{1, 17}.
// ARCHITECTURE.md says what the words mean.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>

namespace davit {

// A number of one purpose, which `Purpose` names. 0 often stands for "none". Purpose::counts says
// whether one follows another, so that they can be counted; the others are only compared.
template <class Purpose>
class Number {
 public:
  constexpr Number() = default;  // 0
  constexpr explicit Number(uint64_t value) : value_(value) {}
  consteval Number(std::same_as<int> auto literal) : value_(static_cast<uint64_t>(literal)) {
    if (literal < 0) throw "there is no negative one";  // does not compile
  }
  static constexpr Number max() { return Number(std::numeric_limits<uint64_t>::max()); }

  constexpr uint64_t value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }
  constexpr auto operator<=>(const Number&) const = default;
  constexpr bool operator==(const Number&) const = default;

  constexpr Number next() const requires Purpose::counts { return *this + 1; }
  constexpr Number& operator++() requires Purpose::counts {
    ++value_;
    return *this;
  }
  constexpr Number operator++(int) requires Purpose::counts { return Number(value_++); }
  friend constexpr Number operator+(Number n, uint64_t more) requires Purpose::counts {
    return Number(n.value_ + more);
  }
  friend constexpr Number operator-(Number n, uint64_t less) requires Purpose::counts {
    return Number(n.value_ - less);
  }
  // How far `later` is from `earlier`, which is not greater.
  friend constexpr uint64_t operator-(Number later, Number earlier) requires Purpose::counts {
    return later.value_ - earlier.value_;
  }

  friend std::string to_string(Number n) { return std::to_string(n.value_); }
  friend std::ostream& operator<<(std::ostream& out, Number n) { return out << n.value_; }

 private:
  uint64_t value_ = 0;
};

namespace purpose {
struct Version {
  static constexpr bool counts = true;
};
struct Incarnation {
  static constexpr bool counts = false;
};
struct Epoch {
  static constexpr bool counts = true;
};
}  // namespace purpose

// Of a record, or of a status: each has a counter of its own in the store.
using Version = Number<purpose::Version>;
// Of a store.
using Incarnation = Number<purpose::Incarnation>;
// Of an agent.
using Epoch = Number<purpose::Epoch>;

}  // namespace davit

template <class Purpose>
struct std::hash<davit::Number<Purpose>> {
  size_t operator()(davit::Number<Purpose> n) const noexcept {
    return std::hash<uint64_t>{}(n.value());
  }
};
