// The rules for every plugin, whatever its roles.
#include <set>

#include <davit/abi/kind_needs.h>
#include <davit/abi/records_role.h>
#include <davit/abi/rights.h>
#include <davit/abi/secrets.h>

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
  EXPECT_FALSE(view(plugin->summary).empty());
  const std::string& path = subject().plugin.path();
  EXPECT_EQ(path.substr(path.rfind('/') + 1), note.name + ".so");
}

TEST(Plugin, HasTheSlotsEveryPluginNeeds) {
  const davit_plugin* plugin = subject().plugin.plugin();
  EXPECT_TRUE(plugin->create != nullptr);
  EXPECT_TRUE(plugin->destroy != nullptr);
  EXPECT_TRUE(plugin->query != nullptr);
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
  for (const std::string_view id :
       {DAVIT_STORAGE, DAVIT_STORAGE_COPY, DAVIT_CHANGE_SINK, DAVIT_STATUS_SINK, DAVIT_KIND,
        DAVIT_KIND_NEEDS, DAVIT_GATE, DAVIT_CLUSTER, DAVIT_RIGHTS, DAVIT_SECRETS, DAVIT_RECORDS}) {
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

}  // namespace
}  // namespace davit::conformance
