// Versions, incarnations and epochs cannot stand for one another.
#include <davit/number.hpp>

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <type_traits>
#include <unordered_set>

namespace davit {
namespace {

template <class From, class To>
constexpr bool becomes = std::is_constructible_v<To, From> || std::is_assignable_v<To&, From>;

static_assert(!becomes<Version, Epoch> && !becomes<Epoch, Version>);
static_assert(!becomes<Version, Incarnation> && !becomes<Incarnation, Version>);
static_assert(!becomes<Epoch, Incarnation> && !becomes<Incarnation, Epoch>);

// A variable becomes one only where the code says so, and back only through value().
static_assert(std::is_constructible_v<Version, uint64_t>);
static_assert(!std::is_convertible_v<uint64_t, Version>);
static_assert(!std::is_assignable_v<Version&, uint64_t>);
static_assert(!std::is_constructible_v<uint64_t, Version>);
static_assert(!std::is_convertible_v<Version, bool>);

template <class A, class B>
concept Compared = requires(A a, B b) {
  a == b;
}
|| requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Subtracted = requires(A a, B b) {
  a - b;
};
template <class A>
concept Counted = requires(A a) {
  a.next();
}
|| requires(A a) {
  ++a;
}
|| requires(A a, uint64_t n) {
  a + n;
}
|| Subtracted<A, A>;

static_assert(Compared<Version, Version> && Compared<Incarnation, Incarnation>);
static_assert(!Compared<Version, Epoch> && !Compared<Version, Incarnation>);
static_assert(!Compared<Epoch, Incarnation> && !Compared<Version, uint64_t>);
static_assert(Subtracted<Version, Version> && !Subtracted<Version, Epoch>);
// An incarnation is drawn, and none follows another.
static_assert(Counted<Version> && Counted<Epoch> && !Counted<Incarnation>);

// They are passed as the number is.
static_assert(sizeof(Version) == sizeof(uint64_t) && std::is_trivially_copyable_v<Version>);

TEST(Number, StandsForNoneUntilItIsGiven) {
  const Version none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.value(), 0u);
  EXPECT_EQ(none, Version(0));
  EXPECT_TRUE(Version(1));
}

TEST(Number, HasAll64Bits) {
  EXPECT_EQ(Incarnation::max().value(), UINT64_MAX);
  EXPECT_EQ(to_string(Incarnation::max()), "18446744073709551615");
}

TEST(Number, IsOrderedAsTheNumberIs) {
  EXPECT_LT(Epoch(2), Epoch(10));
  EXPECT_GT(Version::max(), Version(uint64_t{1} << 63));
  const std::map<Version, char> ordered{{Version(10), 'b'}, {Version(9), 'a'}};
  EXPECT_EQ(ordered.begin()->second, 'a');
}

TEST(Number, CountsWhereOneFollowsAnother) {
  Version version = 7;
  EXPECT_EQ(version++, Version(7));
  EXPECT_EQ(++version, Version(9));
  EXPECT_EQ(version.next(), Version(10));
  EXPECT_EQ(version + 2, Version(11));
  EXPECT_EQ(version - 2, Version(7));
  EXPECT_EQ(version - Version(4), 5u);
}

TEST(Number, IsShownAsTheNumber) {
  std::ostringstream out;
  out << Epoch(17);
  EXPECT_EQ(out.str(), "17");
  EXPECT_EQ(to_string(Epoch(17)), "17");
}

TEST(Number, HasAHash) {
  std::unordered_set<Incarnation> seen{Incarnation(1), Incarnation(2), Incarnation(1)};
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen.contains(Incarnation(2)));
  EXPECT_FALSE(seen.contains(Incarnation(3)));
}

}  // namespace
}  // namespace davit
