// What is refused, and how it is said, stands in bad_input_test.cpp.
#include "loader/loader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace davit::host {
namespace {

TEST(Loader, GivesTheSameModuleForTheSameName) {
  Loader loader({FIXTURES});
  const auto first = loader.load("actor");
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ((*first)->path, FIXTURES "/actor.so");
  EXPECT_EQ(view((*first)->plugin->name), "actor");
  const auto second = loader.load("actor");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*first, *second);
}

TEST(Loader, SearchesFoldersInOrder) {
  Loader loader({"/nowhere", FIXTURES});
  EXPECT_TRUE(loader.load("actor").ok());
  const auto missing = loader.load("ghost");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "module \"ghost\": no ghost.so in /nowhere, " FIXTURES);
}

TEST(Loader, ALinkToNothingIsNotAdvisedInItsOwnPlace) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "davit-loader-test";
  std::filesystem::create_directory(folder);
  std::filesystem::remove(folder / "ghost.so");
  std::filesystem::create_symlink("nowhere.so", folder / "ghost.so");
  const auto missing = Loader({folder.string()}).load("ghost");
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "module \"ghost\": " + (folder / "ghost.so").string() +
                                         ": is a link to a file that is not there");
}

TEST(Loader, NeverUnloads) {
  const davit_plugin* plugin = nullptr;
  {
    Loader loader({FIXTURES});
    const auto module = loader.load("actor");
    ASSERT_TRUE(module.ok());
    plugin = (*module)->plugin;
  }
  EXPECT_EQ(view(plugin->name), "actor");
  EXPECT_NE(::dlopen(FIXTURES "/actor.so", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(Loader, KeepsSymbolsToThePlugin) {
  Loader loader({FIXTURES});
  ASSERT_TRUE(loader.load("actor").ok());
  EXPECT_EQ(::dlsym(RTLD_DEFAULT, DAVIT_PLUGIN_ENTRY), nullptr);
}

TEST(Loader, ListsWithoutLoading) {
  const auto modules = Loader({FIXTURES}).list();
  std::string names;
  for (const auto& m : modules) names += m.name + (m.problem.empty() ? " " : "! ");
  EXPECT_EQ(names,
            "abi_late! abi_two! actor breaker caller many_threads misnamed! no_note! no_such_role "
            "no_symbol "
            "other_name other_version parrot refusing thrower ");
  EXPECT_EQ(::dlopen(FIXTURES "/thrower.so", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace davit::host
