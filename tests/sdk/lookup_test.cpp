// Settings that may be left out because there is usually one instance to choose.
#include "davit/lookup.hpp"

#include <gtest/gtest.h>

#include "davit/gate.hpp"
#include "davit/testing/host.hpp"

namespace davit {
namespace {

struct Passive {
  void wait(const gate::Opened&) {}
};

std::string chosen(size_t gates, const std::optional<std::string>& named) {
  testing::TestHost host("subject");
  Passive passive;
  const char* const names[] = {"leader", "second", "third"};
  for (size_t i = 0; i < gates; ++i) {
    host.add_role(names[i], DAVIT_GATE, reinterpret_cast<davit_instance*>(&passive),
                  gate::Role::vtable<Passive>());
  }
  const auto found = gate::Client::find(host.host(), named);
  if (!found.ok()) return found.error().message;
  return *found ? (*found)->name() : "none";
}

TEST(Gate, IsTheOnlyOneUnlessTheSettingNamesIt) {
  EXPECT_EQ(chosen(0, std::nullopt), "none");
  EXPECT_EQ(chosen(1, std::nullopt), "leader");
  EXPECT_EQ(chosen(2, "second"), "second");
  EXPECT_EQ(chosen(1, "second"), "no instance is named \"second\"");
  EXPECT_EQ(
      chosen(2, std::nullopt),
      "several instances offer davit.gate/1: \"leader\", \"second\"; name one of them: gate = "
      "\"leader\"");
}

}  // namespace
}  // namespace davit
