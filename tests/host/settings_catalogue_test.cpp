#include "settings/catalogue.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace davit::host {
namespace {

Setting named(const std::string& name, std::vector<Setting> parts = {}) {
  Setting out;
  out.name = name;
  out.parts = std::move(parts);
  return out;
}

// "name: usual|example|about" of the settings of a scope.
std::string described(const Catalogue& catalogue, const std::string& scope,
                      std::vector<Setting> parts) {
  Setting table = named("", std::move(parts));
  catalogue.describe(scope, table);
  std::string out;
  const std::function<void(const Setting&)> show = [&](const Setting& of) {
    for (const Setting& part : of.parts) {
      out += part.name + ": " + part.usual + "|" + part.example + "|" + part.about + "\n";
      show(part);
    }
  };
  show(table);
  return out;
}

TEST(Catalogue, ReadsDefaultsExamplesAndWhatTheyAreFor) {
  Catalogue catalogue;
  catalogue.read(
      "# prose = is no key\n[host]\n#level = \"a # b\"   # how much\n#listen = \":1\"  # off when "
      "absent\n"
      "dir = \"/x\"\n[plugin.main]   # the store\nmodule = \"storage\"\n#size = 1\n"
      "#[plugin.main.token]   # where from\n#url = \"u\"\n#  key = \"k\"   # with mode = \"x\"\n"
      "[[rpc.server.main.token]]\nname = \"n\"\n");
  EXPECT_EQ(described(catalogue, "host", {named("dir"), named("level"), named("listen")}),
            "dir: |\"/x\"|\nlevel: \"a # b\"||how much\nlisten: |\":1\"|off when absent\n");
  EXPECT_EQ(described(catalogue, "plugin:storage",
                      {named("size"), named("token", {named("key"), named("url")})}),
            "size: 1||\ntoken: ||where from\nkey: |\"k\"|with mode = \"x\"\nurl: \"u\"||\n");
  EXPECT_EQ(described(catalogue, "rpc.server", {named("token", {named("name")})}),
            "token: ||\nname: |\"n\"|\n");
  EXPECT_EQ(catalogue.about_module("storage"), "the store");
  EXPECT_EQ(described(catalogue, "plugin:other", {named("size")}), "size: ||\n");
}

TEST(Catalogue, AnEarlierFileCounts) {
  Catalogue catalogue;
  catalogue.read("[host]\n#a = 1\n#b = 2   # first\n");
  catalogue.read("[host]\n#a = 3   # said here\n#b = 4   # second\n");
  EXPECT_EQ(described(catalogue, "host", {named("a"), named("b")}),
            "a: 1||said here\nb: 2||first\n");
}

TEST(Catalogue, TheShippedFilesSayWhatEachModuleIsFor) {
  const Catalogue catalogue = Catalogue::shipped();
  EXPECT_GT(catalogue.scopes().size(), 20u);
  EXPECT_GT(catalogue.names("host").size(), 10u);
  EXPECT_FALSE(catalogue.names("rpc.server").empty());
  EXPECT_FALSE(catalogue.names("rpc.client").empty());
}

}  // namespace
}  // namespace davit::host
