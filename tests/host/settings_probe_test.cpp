#include "settings/probe.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"

namespace davit::host {
namespace {

// What a probe finds out of a reader of the table [plugin.probe].
template <class Reader>
Setting probed(const Reader& reader) {
  SettingsProbe probe("plugin.probe", "module = \"m\"");
  while (!probe.done()) {
    Faults faults;
    const Config config = Config::parse(probe.text(), SettingsProbe::file, faults);
    EXPECT_TRUE(faults.empty()) << probe.text();
    const Node* node = config.root().find("plugin")->find("probe");
    const Table table(node, node->key, &faults);
    table.string("module");
    reader(table);
    probe.learn(config.root(), faults);
  }
  return probe.found();
}

// "name: a string! {part: ...}"; "!" is of what must be set.
std::string shown(const Setting& table) {
  std::string out;
  for (const Setting& part : table.parts) {
    out += (out.empty() ? "" : ", ") + part.name + ": " + type_text(part);
    if (part.required) out += "!";
    if (!part.parts.empty()) out += " {" + shown(part) + "}";
  }
  return out;
}

TEST(SettingsProbe, FindsTypesLimitsAndWords) {
  EXPECT_EQ(shown(probed([](const Table& t) {
              t.string("name");
              t.integer("count", 3, 1, 9);
              t.integer("size", 3, 2);
              t.integer("needed", std::nullopt);
              t.boolean("flag", false);
              t.strings("list");
              t.path("file", false);
              t.word("form", {"text", "json"}, "text");
            })),
            "count: an integer from 1 to 9, file: a string, flag: true or false, "
            "form: \"text\" or \"json\", list: an array of strings, name: a string!, "
            "needed: an integer from 0!, size: an integer from 2");
}

TEST(SettingsProbe, FindsTablesWithinTables) {
  EXPECT_EQ(shown(probed([](const Table& t) {
              const Table token = t.table("token");
              if (token.present()) {
                token.string("url");
                token.table("labels").named();
              }
              for (const Table& item : t.tables("provider")) item.strings("groups");
            })),
            "provider: an array of tables {groups: an array of strings}, "
            "token: a table {labels: a table of strings, url: a string!}");
}

TEST(SettingsProbe, FindsWhatIsReadBesideAWordOrAFlagOnly) {
  EXPECT_EQ(shown(probed([](const Table& t) {
              const std::string auth = t.word("auth", {"none", "token"}, "none");
              if (auth == "token") t.path("token_file", true);
              if (t.boolean("tls", false)) t.integer("tls_port", 1, 1, 2);
              if (t.boolean("open", true)) return;
              t.string("closed_by", "me");
            })),
            "auth: \"none\" or \"token\", closed_by: a string, open: true or false, "
            "tls: true or false, tls_port: an integer from 1 to 2, token_file: a string")
      << "token_file is needed beside that word only";
}

TEST(SettingsProbe, TakesTheWordsOfAnyReader) {
  EXPECT_EQ(shown(probed([](const Table& t) {
              const std::string way = t.string("way", "down");
              if (way != "up" && way != "down") t.reject("way", "must be \"up\" or \"down\"");
            })),
            "way: \"up\" or \"down\"");
}

TEST(SettingsProbe, LeavesOutWhatIsRefusedWhateverItIs) {
  EXPECT_EQ(shown(probed([](const Table& t) {
              t.integer("a", 1);
              if (t.has("pool_threads")) t.reject("pool_threads", "works alone: remove the key");
            })),
            "a: an integer from 0");
}

TEST(SettingsProbe, EndsWithAReaderThatReadsNothingOrEver) {
  EXPECT_EQ(shown(probed([](const Table&) {})), "");
  int n = 0;
  const Setting found =
      probed([&n](const Table& t) { t.integer("key_" + std::to_string(++n), 1); });
  EXPECT_GT(found.parts.size(), 100u);
}

}  // namespace
}  // namespace davit::host
