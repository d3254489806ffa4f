// A Secret keeps its plaintext through moves, and a secrets client mistrusts the number of results.
#include <davit/secrets.hpp>

#include <gtest/gtest.h>

namespace davit {
namespace {

TEST(Secret, KeepsItsPlaintextThroughMoves) {
  const std::string large(100'000, 'x');
  for (const std::string& plaintext : {std::string(), std::string("a\0b", 3), large}) {
    Secret first(plaintext);
    EXPECT_EQ(first.view(), plaintext);
    Secret second(std::move(first));
    EXPECT_EQ(second.view(), plaintext);
    Secret third("another");
    third = std::move(second);
    EXPECT_EQ(third.view(), plaintext);
    EXPECT_EQ(third.size(), plaintext.size());
  }
}

TEST(SecretsClient, TakesNoResultForAnotherItems) {
  static constexpr auto one_result = [](davit_instance*, const davit_op*,
                                        const davit_secret_item* const*, size_t,
                                        davit_secrets_done done, void* ctx) {
    davit_secret_result result{};
    result.struct_size = sizeof result;
    result.value = bytes("plaintext");
    const davit_secret_result* results[] = {&result};
    done(ctx, results, 1);
  };
  static const davit_secrets table = {sizeof table, 0, one_result};
  const secrets::Client client(davit_ref{nullptr, &table, {}});
  const auto ask = [&](size_t items) {
    secrets::Results out;
    client.resolve(
        std::vector<secrets::Item>(items),
        [&](secrets::Results results) { out = std::move(results); }, Op());
    return out;
  };
  ASSERT_EQ(ask(1).size(), 1u);
  EXPECT_EQ(ask(1)[0]->secret.view(), "plaintext");
  for (const size_t items : {0, 2}) {
    const auto results = ask(items);
    ASSERT_EQ(results.size(), items);
    for (const auto& r : results) {
      EXPECT_EQ(r.error().code, Code::internal);
      EXPECT_EQ(r.error().message,
                "resolve gave 1 results for " + std::to_string(items) + " items");
    }
  }
}

}  // namespace
}  // namespace davit
