#include <davit/kind.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

// A kind, as far as it classifies and attributes: by the number that the state is, and to the
// records that the object lists ("a,b").
const davit_kind& numbers() {
  static const davit_kind_description description{};
  static const davit_kind table = [] {
    davit_kind t{};
    t.struct_size = sizeof t;
    t.describe = [](davit_instance*) { return &description; };
    t.classify = [](davit_instance*, davit_str state, davit_str, int32_t* out, davit_error* e) {
      if (view(state) == "later")
        return fill(e, {Code::unavailable, "starting", {}, std::chrono::milliseconds(7)});
      if (view(state) == "nothing") return DAVIT_OK;
      *out = static_cast<int32_t>(std::stoll(text(state)));
      return DAVIT_OK;
    };
    t.attribute = [](davit_instance*, davit_str object, davit_visit_named visit, void* ctx,
                     davit_error*) {
      for (const char& c : view(object)) {
        const davit_named n{{}, str("ns"), {&c, 1}};
        if (c != ',') visit(ctx, &n);
      }
      return DAVIT_OK;
    };
    return t;
  }();
  return table;
}

kind::Client client() {
  davit_ref ref{};
  ref.vtable = &numbers();
  return kind::Client(ref);
}

TEST(KindClient, HoldsWhatAPluginClassifiesByANumberThatMeansNothing) {
  EXPECT_EQ(client().classify("1", "").value(), kind::Class::apply);
  EXPECT_EQ(client().classify("2", "").value(), kind::Class::remove);
  for (const char* number : {"0", "3", "-1", "256", "2147483647", "-2147483648"})
    EXPECT_EQ(client().classify(number, "").value(), kind::Class::unhandled) << number;
  EXPECT_EQ(client().classify("nothing", "").value(), kind::Class::unhandled) << "none is written";
  EXPECT_EQ(client().classify("deleted", "").value(), kind::Class::remove)
      << "the store's own word";
}

TEST(KindClient, PassesTheErrorOfAKindOn) {
  const auto r = client().classify("later", "");
  ASSERT_FALSE(r.ok());
  EXPECT_TRUE(retryable(r.error().code));
  EXPECT_EQ(r.error().message, "starting");
  EXPECT_EQ(r.error().retry_after.count(), 7);
}

TEST(KindClient, KnowsEachRecordThatAnObjectBelongsTo) {
  const auto both = client().attribute("a,b").value();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].name, "a");
  EXPECT_EQ(both[1].name, "b");
  EXPECT_EQ(client().attribute("").error().code, Code::not_found) << "visited none";
}

TEST(Codes, ThatSayLaterAreFive) {
  std::vector<int32_t> later;
  for (int32_t code = 0; code <= 20; ++code) {
    if (retryable(static_cast<Code>(code))) later.push_back(code);
  }
  EXPECT_EQ(later, (std::vector<int32_t>{1, 4, 8, 10, 14}));
}

}  // namespace
}  // namespace davit
