#include <davit/kind.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

// A kind, as far as it classifies: by the number that the state is.
const davit_kind& numbers() {
  static const davit_kind_description description{};
  static const davit_kind table = [] {
    davit_kind t{};
    t.struct_size = sizeof t;
    t.describe = [](davit_instance*) { return &description; };
    t.classify = [](davit_instance*, davit_str state, davit_str) {
      return static_cast<int32_t>(std::stoll(text(state)));
    };
    return t;
  }();
  return table;
}

TEST(KindClient, HoldsWhatAPluginClassifiesByANumberThatMeansNothing) {
  davit_ref ref{};
  ref.vtable = &numbers();
  const kind::Client client(ref);
  EXPECT_EQ(client.classify("1", ""), kind::Class::apply);
  EXPECT_EQ(client.classify("2", ""), kind::Class::remove);
  for (const char* number : {"0", "3", "-1", "256", "2147483647", "-2147483648"})
    EXPECT_EQ(client.classify(number, ""), kind::Class::unhandled) << number;
  EXPECT_EQ(client.classify("deleted", ""), kind::Class::remove) << "the store's own word";
}

}  // namespace
}  // namespace davit
