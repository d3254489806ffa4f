// Configurations that must not run: each ends `davit run` and `davit check` with code 2 and exactly
// these lines.
#include <gtest/gtest.h>

#include <sstream>

#include <davit/abi.h>

#include "process.hpp"

namespace davit::test {
namespace {

struct Row {
  const char* name;
  const char* toml;  // after [host] plugin_dirs
  const char*
      lines;  // standard error; FILE and DIR stand for the file and the folder of the fixtures
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// Line 1 is [host], line 2 plugin_dirs, line 3 state_dir, line 4 log_level: a row begins at line 5.
std::string configuration(const std::string& body) {
  return "[host]\nplugin_dirs = [\"" FIXTURES "\"]\nstate_dir = \"state\"\nlog_level = \"warn\"\n" +
         body;
}

// The installation's own folder is searched, too, and is elsewhere in every build.
std::string without_own_folder(const std::string& text) {
  const size_t at = text.find(FIXTURES ", ");
  if (at == std::string::npos) return text;
  const size_t from = at + std::string(FIXTURES).size();
  return text.substr(0, from) + text.substr(std::min(text.find(';', from), text.find('\n', from)));
}

class BadInput : public testing::TestWithParam<Row> {};

TEST_P(BadInput, EndsRunAndCheckWithTheseLines) {
  const Folder folder;
  const std::string file = folder.write("a.toml", configuration(GetParam().toml));
  for (const char* command : {"run", "check"}) {
    Process davit({command, file});
    EXPECT_EQ(davit.wait(), 2) << command;
    // FILE last: the name of its folder is drawn by lot, and may have a "DIR" in it.
    std::string expected = replaced(replaced(GetParam().lines, "DIR", FIXTURES), "FILE", file);
    expected = replaced(expected, "SIZE", std::to_string(sizeof(davit_storage)));
    EXPECT_EQ(without_own_folder(davit.err()), expected) << command;
    EXPECT_EQ(davit.out(), "") << command;
  }
}

const Row rows[] = {
    {"UnknownKeyOfHost", "worker_thread = 2\n[plugin.a]\nmodule = \"actor\"\n",
     "FILE:5: host.worker_thread: unknown key; did you mean \"worker_threads\"?\n"},
    {"UnknownKeyOfPlugin", "[plugin.a]\nmodule = \"actor\"\nfail_in = \"start\"\n",
     "FILE:7: plugin.a.fail_in: unknown key; did you mean \"fails_in\"?\n"},
    {"UnknownKeyFarFromAnyOther", "[plugin.a]\nmodule = \"actor\"\nqwertzuiop = 1\n",
     "FILE:7: plugin.a.qwertzuiop: unknown key\n"},
    {"UnknownTable", "[plugins.a]\nmodule = \"actor\"\n[plugin.b]\nmodule = \"actor\"\n",
     "FILE:5: plugins: unknown key; did you mean \"plugin\"?\n"},
    {"WrongType", "worker_threads = \"two\"\n[plugin.a]\nmodule = \"actor\"\n",
     "FILE:5: host.worker_threads: must be an integer\n"},
    {"OutOfBounds", "stop_timeout_ms = 5\n[plugin.a]\nmodule = \"actor\"\n",
     "FILE:5: host.stop_timeout_ms: must be between 100 and 86400000, not 5\n"},
    {"NotOneOfTheWords", "log_format = \"xml\"\n[plugin.a]\nmodule = \"actor\"\n",
     "FILE:5: host.log_format: must be one of \"auto\", \"text\", \"json\", not \"xml\"\n"},
    {"NoAddress", "metrics_listen = \"9100\"\n[plugin.a]\nmodule = \"actor\"\n",
     "FILE:5: host.metrics_listen: must be ADDRESS:PORT, not \"9100\"\n"},
    {"ADate", "[plugin.a]\nmodule = \"actor\"\nuses = 2026-01-01\n",
     "FILE:7: plugin.a.uses: dates and times are not used here: write a string or a number\n"},
    {"Syntax", "[plugin.a\nmodule = \"actor\"\n",
     "FILE:5:10: error while parsing table header: expected ']', saw '\\n'\n"},
    {"SameKeyTwice", "[plugin.a]\nmodule = \"actor\"\nmodule = \"actor\"\n",
     "FILE:7:10: error while parsing key-value pair: cannot redefine existing string 'module'\n"},
    {"NoPlugin", "", "FILE: names no plugin: write a table [plugin.NAME] with a \"module\"\n"},
    {"NoModule", "[plugin.a]\nuses = []\n",
     "FILE:5: plugin.a: key \"module\": is missing (a string)\n"},
    {"PluginIsNoTable", "[plugin]\na = 1\n", "FILE:6: plugin.a: must be a table: [plugin.NAME]\n"},
    {"BadInstanceName", "[plugin.A-b]\nmodule = \"actor\"\n",
     "FILE:5: plugin.A-b: an instance's name is lower_snake_case, at most 64 letters\n"},
    {"MissingModule", "[plugin.a]\nmodule = \"actr\"\n",
     "FILE:6: plugin.a.module: module \"actr\": no actr.so in DIR; did you mean \"actor\"?\n"},
    {"ModuleIsAPath", "[plugin.a]\nmodule = \"../actor.so\"\n",
     "FILE:6: plugin.a.module: module \"../actor.so\": a module's name is lower_snake_case, "
     "without folder or \".so\"\n"},
    {"NoSymbol", "[plugin.a]\nmodule = \"no_symbol\"\n",
     "FILE:6: plugin.a.module: module \"no_symbol\": DIR/no_symbol.so: does not export "
     "davit_plugin_entry_v1: build it "
     "with davit_add_plugin()\n"},
    {"NoNote", "[plugin.a]\nmodule = \"no_note\"\n",
     "FILE:6: plugin.a.module: module \"no_note\": DIR/no_note.so: not a davit plugin (no note "
     ".note.davit): build it "
     "with davit_add_plugin()\n"},
    {"OtherAbiMajor", "[plugin.a]\nmodule = \"abi_two\"\n",
     "FILE:6: plugin.a.module: module \"abi_two\": DIR/abi_two.so: built for ABI 2, this host "
     "speaks 1: rebuild it or "
     "install a host that speaks 2\n"},
    {"LaterAbiMinor", "[plugin.a]\nmodule = \"abi_late\"\n",
     "FILE:6: plugin.a.module: module \"abi_late\": DIR/abi_late.so: needs ABI 1.99, this host "
     "speaks 1.1: install a "
     "host that speaks 1.99\n"},
    {"NameOfTheNoteIsNotTheFiles", "[plugin.a]\nmodule = \"misnamed\"\n",
     "FILE:6: plugin.a.module: module \"misnamed\": DIR/misnamed.so: calls itself "
     "\"somebody_else\": the file must be "
     "named somebody_else.so\n"},
    {"NeedsMoreThanTheHostHas", "[plugin.a]\nmodule = \"needs_more\"\n",
     "FILE:6: plugin.a.module: module \"needs_more\": DIR/needs_more.so: needs \"teleport/1\", "
     "which this host does not know: install a newer davit\n"},
    {"RoleOfAnotherMajor", "[plugin.a]\nmodule = \"role_late\"\n",
     "FILE:6: plugin.a.module: module \"role_late\": DIR/role_late.so: plays the role storage/7, "
     "this host knows storage/1: install a davit and a plugin that go together\n"},
    {"AbiBefore1_0", "[plugin.a]\nmodule = \"before_1_0\"\n",
     "FILE:6: plugin.a.module: module \"before_1_0\": DIR/before_1_0.so: built for an ABI before "
     "1.0 (its note has no line \"needs\"), this host speaks 1.1: build it again with the SDK of "
     "this host\n"},
    {"RoleWithoutAMajor", "[plugin.a]\nmodule = \"role_unversioned\"\n",
     "FILE:6: plugin.a.module: module \"role_unversioned\": DIR/role_unversioned.so: its note "
     "names the role \"storage\", which is not NAME/MAJOR: build it with davit_add_plugin()\n"},
    {"VersionOfTheNoteIsNotTheEntrys", "[plugin.a]\nmodule = \"other_version\"\n",
     "FILE:6: plugin.a.module: module \"other_version\": DIR/other_version.so: its entry says "
     "\"0.0.1\", its note \"0.0.2\": build both by one davit_add_plugin()\n"},
    {"NamesARoleThatItDoesNotPlay", "[plugin.a]\nmodule = \"plays_less\"\n",
     "FILE:5: plugin.a: the note of module \"plays_less\" names the role test.other/1, its query "
     "does not answer test.other/1: correct ROLES of davit_add_plugin()\n"},
    {"PlaysARoleThatItDoesNotName", "[plugin.a]\nmodule = \"plays_more\"\n",
     "FILE:5: plugin.a: module \"plays_more\" plays the role gate/1, which its note does not name: "
     "correct ROLES of davit_add_plugin()\n"},
    {"TooManyThreads", "[plugin.a]\nmodule = \"actor\"\npool_threads = 9\n",
     "FILE:7: plugin.a.pool_threads: must be between 1 and 8, not 9\n"},
    {"ThreadsOfAPoolThatIsFixed",
     "[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"\"\npool_threads = 2\n",
     "FILE:8: plugin.a.pool_threads: module \"thrower\" works with a pool of 1: remove the key\n"},
    {"RefusesTheHost", "[plugin.a]\nmodule = \"refusing\"\n",
     "FILE:6: plugin.a.module: module \"refusing\": DIR/refusing.so: needs a newer processor\n"},
    {"ShortTable", "[plugin.a]\nmodule = \"breaker\"\ntable = \"short\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.storage/1: "
     "the slot storage.head is missing: struct_size is 16, not SIZE\n"},
    {"SlotIsNull", "[plugin.a]\nmodule = \"breaker\"\ntable = \"null\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.storage/1: "
     "the slot storage.commit is NULL\n"},
    {"KindWithoutADescription", "[plugin.a]\nmodule = \"breaker\"\ntable = \"no_describe\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: the "
     "slot kind.describe is NULL\n"},
    {"KindWithoutAName", "[plugin.a]\nmodule = \"breaker\"\ntable = \"no_kind\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: its "
     "description names no kind\n"},
    {"ColumnThatIsNull", "[plugin.a]\nmodule = \"breaker\"\ntable = \"null_column\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: "
     "its description has a column that is NULL\n"},
    {"HeadingThatIsTooLong", "[plugin.a]\nmodule = \"breaker\"\ntable = \"long_heading\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: "
     "its column \"THE-COLOUR-OF-WHAT-WAS-ASKED-FOR.\" has a name that is not 1 to 32 printable "
     "ASCII letters\n"},
    {"ColumnWithoutAPointer", "[plugin.a]\nmodule = \"breaker\"\ntable = \"no_pointer\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: "
     "its column \"COLOUR\" has the path \"/spec/~2\", which is no JSON pointer\n"},
    {"TwoColumnsOfOneName", "[plugin.a]\nmodule = \"breaker\"\ntable = \"same_heading\"\n",
     "FILE:6: plugin.a.module: module \"breaker\": DIR/breaker.so: its table of davit.kind/1: "
     "its column \"COLOUR\" is there twice\n"},
    {"ThrowsInCreate", "[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"create\"\n",
     "FILE:5: plugin.a: threw an exception through the ABI: ouch in create\n"},
    {"ThrowsInWire", "[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"wire\"\n",
     "FILE:5: plugin.a: threw an exception through the ABI: ouch in wire\n"},
    {"FailsInCreateAndNamesTheKey", "[plugin.a]\nmodule = \"actor\"\nfails_in = \"create\"\n",
     "FILE:7: plugin.a.fails_in: was told to fail\n"},
    {"FailsInCreateAndSaysOverWhat",
     "[plugin.a]\nmodule = \"breaker\"\nbreaks_in = \"create\"\nhow = \"error\"\n",
     "FILE:5: plugin.a: here: was told to fail\n"},
    {"LooksUpNobody",
     "[plugin.first]\nmodule = \"actor\"\n[plugin.b]\nmodule = \"actor\"\nuses = [\"frist\"]\n",
     "FILE:9: plugin.b.uses: no plugin \"frist\"; did you mean \"first\"?\n"},
    {"LooksUpAnotherRole",
     "[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"\"\n[plugin.b]\nmodule = \"actor\"\nuses = "
     "[\"a\"]\n",
     "FILE:10: plugin.b.uses: plugin \"a\" (module thrower) does not offer test.role/1\n"},
    {"EmptyModule", "[plugin.a]\nmodule = \"\"\n", "FILE:6: plugin.a.module: must not be empty\n"},
    {"ModuleOfTheWrongType", "[plugin.a]\nmodule = 1\n",
     "FILE:6: plugin.a.module: must be a string\n"},
    {"ModuleMistyped", "[plugin.a]\nmodul = \"actor\"\n",
     "FILE:5: plugin.a: key \"module\": is missing (a string)\n"
     "FILE:6: plugin.a.modul: unknown key; did you mean \"module\"?\n"},
    {"Circle",
     "[plugin.a]\nmodule = \"actor\"\nuses = [\"b\"]\n[plugin.b]\nmodule = \"actor\"\nuses = "
     "[\"c\"]\n"
     "[plugin.c]\nmodule = \"actor\"\nuses = [\"b\"]\n",
     "plugins look each other up in a circle: b -> c -> b\n"},
    {"LooksItselfUp", "[plugin.a]\nmodule = \"actor\"\nuses = [\"a\"]\n",
     "plugins look each other up in a circle: a -> a\n"},
    {"EveryFaultAtOnce",
     "log_levl = 1\n[plugin.a]\nmodule = \"actr\"\n[plugin.b]\nmodule = \"actor\"\nx = 1\n",
     "FILE:7: plugin.a.module: module \"actr\": no actr.so in DIR; did you mean \"actor\"?\n"
     "FILE:5: host.log_levl: unknown key; did you mean \"log_level\"?\n"
     "FILE:10: plugin.b.x: unknown key\n"},
};

INSTANTIATE_TEST_SUITE_P(Host, BadInput, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(BadStart, APluginThatFailsToStartIsNamedAndTheOthersAreStopped) {
  const Folder folder;
  const std::string file = folder.write(
      "a.toml", configuration("[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"\"\n"
                              "[plugin.b]\nmodule = \"actor\"\nfails_in = \"start\"\n"));
  Process davit({"run", file});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), "plugin \"b\": was told to fail\n");
}

TEST(BadStart, AnExceptionInStartNamesThePlugin) {
  const Folder folder;
  const std::string file = folder.write(
      "a.toml", configuration("[plugin.a]\nmodule = \"thrower\"\nthrows_in = \"start\"\n"));
  Process davit({"run", file});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), "plugin \"a\": threw an exception through the ABI: ouch in start\n");
}

TEST(BadCheck, APluginsOwnCheckIsAskedAndNothingStarts) {
  const Folder folder;
  const std::string file = folder.write(
      "a.toml", configuration("[plugin.a]\nmodule = \"actor\"\nfails_in = \"check\"\n"));
  Process davit({"check", file});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), file + ":7: plugin.a.fails_in: was told to fail\n");
}

TEST(BadFiles, MissingOnesAreNamed) {
  Process davit({"check", "/nowhere/a.toml", "/nowhere/b.toml"});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(
      davit.err(),
      "/nowhere/a.toml: No such file or directory\n/nowhere/b.toml: No such file or directory\n");
}

TEST(Help, OfACommandNamesItsOptions) {
  const std::pair<std::vector<std::string>, std::vector<std::string>> cases[] = {
      {{"help"}, {"davit run  ", "davit apply  ", "exit codes:\n  0  ", "  4  refused"}},
      {{"run", "--help"}, {"davit run FILE...\n", "  FILE  "}},
      {{"apply", "-h"}, {"--wait", "--timeout", "--dry-run", "--file", "-o, --output", "--server"}},
      {{"get", "--help"}, {"--region", "--deleted", "--token-file"}},
      {{"delete", "--help"}, {"--region", "--file", "--ca-file"}},
      {{"status", "--help"}, {"--region", "table|wide|json|yaml|jsonpath=", "$DAVIT_SERVER"}},
  };
  for (const auto& [arguments, wanted] : cases) {
    Process davit(arguments);
    EXPECT_EQ(davit.wait(), 0);
    for (const auto& text : wanted) EXPECT_NE(davit.out().find(text), std::string::npos) << text;
  }
}

TEST(Help, FitsATerminal) {
  std::vector<std::vector<std::string>> asked = {{"help"}};
  for (const char* command :
       {"run", "check", "plugin", "apply", "diff", "get", "describe", "delete", "status", "wait",
        "agent", "storage", "federation", "explain", "completion"})
    asked.push_back({command, "--help"});
  for (const char* verb : {"backup", "restore", "verify", "maintain", "migrate"})
    asked.push_back({"storage", verb, "--help"});
  for (const char* verb : {"status", "check", "release"})
    asked.push_back({"federation", verb, "--help"});
  for (const auto& arguments : asked) {
    Process davit(arguments);
    EXPECT_EQ(davit.wait(), 0);
    std::istringstream lines(davit.out());
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80u) << arguments.front() << ": " << line;
  }
}

TEST(BadUsage, SaysWhatIsMeant) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"rnu"}, "davit: no command \"rnu\"; did you mean \"run\"?\n"},
      {{"fly"}, "davit: no command \"fly\"; see davit help\n"},
      {{"run"}, "davit run: names no configuration file (usage: davit run FILE...)\n"},
      {{"check", "-x", "f"},
       "davit check: unknown option -x (usage: davit check FILE... [--running | --reload PID] "
       "[--quiet] | --rights | --sandbox)\n"},
      {{"plugin"},
       "davit plugin: what? (list, show or new) (usage: davit plugin list | show MODULE | new NAME)\n"},
      {{"plugin", "list", "--dir"},
       "davit plugin: option --dir needs a value (usage: davit plugin list [--dir DIR])\n"},
  };
  for (const auto& [arguments, line] : cases) {
    Process davit(arguments);
    EXPECT_EQ(davit.wait(), 2);
    EXPECT_EQ(davit.err(), line);
  }
}

}  // namespace
}  // namespace davit::test
