// What is refused, and how it is said, stands in bad_input_test.cpp.
#include "loader/loader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

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

TEST(Loader, TakesNoCodeThatEveryUserMayReplace) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "davit-loader-writers-test";
  fs::remove_all(folder);
  fs::create_directory(folder);
  fs::copy_file(FIXTURES "/actor.so", folder / "actor.so");
  const fs::path copy = folder / "actor.so";
  const auto refused = [&](const fs::path& what) {
    const auto module = Loader({folder.string()}).load("actor");
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.error().message, "module \"actor\": " + copy.string() + ": " + what.string() +
                                          " can be written by every user, who could put code " +
                                          "there: chmod o-w " + what.string());
  };
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  refused(folder);
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(copy, fs::perms::others_write, fs::perm_options::add);
  refused(copy);
  EXPECT_NE(Loader({folder.string()}).list().front().problem, "");
  fs::permissions(copy, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(Loader({folder.string()}).load("actor").ok());
  fs::remove_all(folder);
}

TEST(Loader, SaysOfAFolderAndOfAnEmptyFileThatTheyAreNoPlugins) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "davit-loader-no-plugins-test";
  fs::remove_all(folder);
  fs::create_directories(folder / "a_folder.so");
  std::ofstream(folder / "empty.so").close();
  const auto modules = Loader({folder.string()}).list();
  ASSERT_EQ(modules.size(), 2u);
  for (const auto& module : modules)
    EXPECT_EQ(module.problem, "not a shared object (no ELF header)") << module.name;
  fs::remove_all(folder);
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
  EXPECT_EQ(
      names,
      "abi_late! abi_two! actor before_1_0! breaker caller misnamed! needs_more! no_note! "
      "no_symbol other_version parrot plays_less plays_more refusing role_late! role_unversioned! "
      "thrower ");
  EXPECT_EQ(::dlopen(FIXTURES "/thrower.so", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

// What is wrong with the actor's entry once it has been changed.
std::string fault_of(const std::function<void(davit_plugin&, Note&)>& change) {
  Loader loader({FIXTURES});
  const auto module = loader.load("actor");
  davit_plugin entry = *(*module)->plugin;
  Note note = (*module)->note;
  change(entry, note);
  const auto fits = check_entry(&entry, note);
  return fits.ok() ? "" : fits.error().message;
}

TEST(Loader, ComparesTheEntryWithTheNote) {
  EXPECT_EQ(fault_of([](davit_plugin&, Note&) {}), "");
  EXPECT_EQ(fault_of([](davit_plugin& p, Note&) { p.query = nullptr; }),
            "its entry lacks create, destroy or query");
  EXPECT_EQ(fault_of([](davit_plugin& p, Note&) { p.name = str("other"); }),
            "its entry says \"other\", its note \"actor\": build both by one davit_add_plugin()");
  EXPECT_EQ(fault_of([](davit_plugin&, Note& n) { n.version = "9"; }),
            "its entry says \"0.0.1\", its note \"9\": build both by one davit_add_plugin()");
  EXPECT_EQ(fault_of([](davit_plugin& p, Note& n) { p.abi_minor = 3, n.abi_minor = 3; }), "");
  EXPECT_EQ(fault_of([](davit_plugin& p, Note& n) { p.abi_minor = 2, n.abi_minor = 3; }),
            "its entry says \"ABI 1.2\", its note \"ABI 1.3\": build both by one "
            "davit_add_plugin()");
}

TEST(Loader, RefusesAPoolThatCannotBe) {
  const auto pool = [](uint32_t usual, uint32_t min, uint32_t max) {
    return fault_of([=](davit_plugin& p, Note&) {
      p.max_concurrency = usual, p.pool_threads_min = min, p.pool_threads_max = max;
    });
  };
  EXPECT_EQ(pool(0, 0, 0), "");
  EXPECT_EQ(pool(7, 2, 7), "");
  EXPECT_EQ(pool(4'000'000'000, 0, 0),
            "its entry says a pool of 4000000000 threads, from 0 to 0: there are at most 1024");
  EXPECT_NE(pool(7, 8, 9), "");
  EXPECT_NE(pool(7, 1, 6), "");
}

}  // namespace
}  // namespace davit::host
