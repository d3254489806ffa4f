// The rules for every plugin, whatever its roles.
#include <set>

#include "davit/testing/contract.hpp"
#include "suite.hpp"

namespace davit::conformance {
namespace {

TEST(Plugin, ExportsItsEntryAndNothingElse) {
  auto symbols = testing::exported_symbols(subject().plugin.path());
  ASSERT_TRUE(symbols.ok()) << why(symbols);
  EXPECT_EQ(*symbols, std::vector<std::string>{DAVIT_PLUGIN_ENTRY});
}

TEST(Plugin, SaysTheSameInItsNoteAndItsEntry) {
  const auto& note = subject().plugin.note();
  const davit_plugin* plugin = subject().plugin.plugin();
  EXPECT_EQ(note.name, view(plugin->name));
  EXPECT_EQ(note.version, view(plugin->version));
  const size_t dot = note.abi.find('.');
  ASSERT_NE(dot, std::string::npos) << note.abi;
  EXPECT_EQ(note.abi.substr(0, dot), std::to_string(DAVIT_ABI_MAJOR));
  EXPECT_LE(std::stoul(note.abi.substr(dot + 1)), plugin->abi_minor);
  EXPECT_TRUE(note.states_needs) << "the note lacks the line \"needs\", as before ABI 1.0";
  EXPECT_FALSE(view(plugin->summary).empty());
  const std::string& path = subject().plugin.path();
  EXPECT_EQ(path.substr(path.rfind('/') + 1), note.name + ".so");
}

// Nothing is called that this finds missing: whatever else is tested fails with the same line.
TEST(Plugin, HasTheSlotsEveryPluginNeeds) {
  for (const auto& fault : testing::faults(subject().plugin.plugin(), &subject().plugin.note()))
    ADD_FAILURE() << fault;
}

TEST(Plugin, HasWholeTables) {
  const testing::TemporaryDirectory directory;
  TestHost host("subject", config_in(directory.path()));
  Instance instance(subject().plugin.plugin(), host);
  const auto r = instance.create();
  ASSERT_TRUE(r.ok()) << why(r);
  for (const auto& role : testing::judged_roles()) {
    const void* table = instance.role<void>(role);
    if (table == nullptr) continue;
    for (const auto& fault : testing::faults(role, table)) ADD_FAILURE() << fault;
  }
}

TEST(Plugin, RefusesAKeyItDoesNotKnow) {
  const testing::TemporaryDirectory directory;
  TestHost host("subject", config_in(directory.path()).set({"no_such_key", 1}));
  Instance instance(subject().plugin.plugin(), host);
  const auto r = instance.create();
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().message.find("plugin.subject.no_such_key: unknown key"), std::string::npos)
      << r.error().message;
}

TEST(Plugin, PlaysTheRolesThatItsNoteNamesAndNoOther) {
  const testing::TemporaryDirectory directory;
  TestHost host("subject", config_in(directory.path()));
  Instance instance(subject().plugin.plugin(), host);
  const auto r = instance.create();
  ASSERT_TRUE(r.ok()) << why(r);
  std::set<std::string, std::less<>> named;
  for (const auto& role : subject().plugin.note().roles) {
    EXPECT_NE(role.find('/'), std::string::npos) << role << " has no major";
    const bool is_id = role.find('.') != std::string::npos;
    named.insert((is_id ? "" : "davit.") + role);
  }
  for (const auto& id : named) EXPECT_NE(instance.role<void>(id), nullptr) << id;
  for (const auto& id : testing::judged_roles()) {
    EXPECT_EQ(instance.role<void>(id) != nullptr, named.contains(id)) << id;
  }
  EXPECT_EQ(instance.role<void>("davit.no_such_role/1"), nullptr);
}

TEST(Plugin, IsMadeAndDestroyedWithoutAStart) {
  const testing::TemporaryDirectory directory;
  for (int i = 0; i < 20; ++i) {
    TestHost host("subject", config_in(directory.path()));
    Instance instance(subject().plugin.plugin(), host);
    const auto r = instance.create();
    ASSERT_TRUE(r.ok()) << why(r);
  }
}

// The end of the test stops it, and a stop that fails fails the test.
TEST(Plugin, StartsAndStops) {
  if (!subject().plugin.note().needs.empty()) GTEST_SKIP() << "it needs what only a host has";
  Fresh fresh;
  if (fresh.instance().get() != nullptr && !fresh.instance().wired())
    GTEST_SKIP() << "it needs neighbours: " << why(fresh.up());
  EXPECT_TRUE(fresh.up().ok()) << why(fresh.up());
}

}  // namespace
}  // namespace davit::conformance
