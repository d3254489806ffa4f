#include "commands/config_text.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/difference.hpp"
#include "config/merge.hpp"
#include "config/toml.hpp"

namespace davit::host {
namespace {

std::string dumped(std::initializer_list<std::string_view> texts, const ConfigText& how = {}) {
  Node root;
  Faults faults;
  int file = 0;
  for (std::string_view text : texts)
    merge(root, parse_toml(text, std::to_string(++file) + ".toml", faults));
  EXPECT_TRUE(faults.empty());
  return config_text(root, how);
}

TEST(ConfigText, PrintsWhatSeveralFilesSayTogether) {
  EXPECT_EQ(dumped({"[plugin.main]\nmodule = \"m\"\nsize = 1\n[host]\n", "plugin.main.size = 2\n"}),
            "[plugin.main]\nmodule = \"m\"\nsize = 2\n\n[host]\n");
}

TEST(ConfigText, SaysWhereEachKeyComesFrom) {
  EXPECT_EQ(dumped({"[host]\na = 1\nb = 2\n", "[host]\nb = 3\n"}, {true, {}}),
            "[host]  # 1.toml:1, 2.toml:1\na = 1  # 1.toml:2\nb = 3  # 2.toml:2\n");
}

TEST(ConfigText, CanBeReadAgain) {
  const std::string_view text =
      "[a]\ns = \"q\\\" \\\\ \\n \\u0001 é\"\ni = -5\nr = 2.0\nt = true\nl = [\"x\", [1, 2], { y = "
      "1 }]\n"
      "e = {}\n\"odd key.x\" = 1\n[a.b]\n[[a.items]]\nn = 1\n[[a.items]]\n[a.items.sub]\nk = []\n";
  const std::string again = dumped({text});
  Faults faults;
  const auto before = parse_toml(text, "", faults), after = parse_toml(again, "", faults);
  ASSERT_TRUE(faults.empty()) << again;
  for (const Difference& d : differences(*before, *after)) ADD_FAILURE() << d.key << "\n" << again;
  EXPECT_EQ(dumped({again}), again);
}

TEST(ConfigText, HidesSecrets) {
  const std::string out = dumped(
      {"[p]\nurl = \"https://me:s3cret@host/x?y=a@b\"\nuri = \"host=db password=s3cret user=me\"\n"
       "password = \"s3cret\"\ntoken = \"s3cret\"\n[p.environment]\nAWS_SECRET_ACCESS_KEY = "
       "\"s3cret\"\n"
       "DB_PASSWORD = \"s3cret\"\nHOME = \"/h\"\n"});
  EXPECT_EQ(out.find("s3cret"), std::string::npos) << out;
  EXPECT_NE(out.find("\"https://me:***@host/x?y=a@b\""), std::string::npos) << out;
  EXPECT_NE(out.find("\"host=db password=*** user=me\""), std::string::npos) << out;
}

TEST(ConfigText, ShowsWhatIsNoSecret) {
  const std::string text =
      "[p]\ntoken_file = \"/etc/t\"\nrole_without_token = \"pod\"\nsecrets = \"vault\"\nkey = "
      "\"{keyring}\"\nurl = \"https://me@host:80/\"\nlisten = \"unix:/run/x\"\n";
  EXPECT_EQ(dumped({text}), text);
}

TEST(ConfigText, ShowsTheDefaultsOfWhatIsNotSet) {
  Setting known, set, unset, unknown;
  set.name = "a";
  set.usual = "1";
  unset.name = "b";
  unset.usual = "2";
  unset.about = "what for";
  unknown.name = "c";
  known.parts = {set, unset, unknown};
  const ConfigText how{false, [&](const Node& node) { return node.key == "p" ? &known : nullptr; }};
  EXPECT_EQ(dumped({"[p]\na = 7\n[q]\n"}, how), "[p]\na = 7\n#b = 2  # what for\n\n[q]\n");
}

}  // namespace
}  // namespace davit::host
