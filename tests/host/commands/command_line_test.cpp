// The words of davit's command line: what CLI11 makes of them, and what is said of those that are
// wrong.
#include "commands/command_line.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "commands/davit.hpp"
#include "commands/exit_codes.hpp"
#include "commands/operator_client.hpp"

namespace davit::host {
namespace {

using Words = std::vector<std::string>;

// A tree of `get` and `store copy`, and what its words made of the options.
class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    auto get = std::make_shared<Command>("get", "[KIND]", "show", [this] { return ran("get"); });
    get->word("KIND", kind_, "of this kind");
    get->option("-r,--region", "R", region_, "of this region");
    get->flag("-w,--watch", watch_, "go on");
    get->duration("--timeout", "60s", timeout_, "give up");
    davit_.add_subcommand(get);
    auto apply =
        std::make_shared<Command>("apply", "-f FILE", "do", [this] { return ran("apply"); });
    apply->options("-f,--file", "FILE", files_, "these");
    apply->words("WORD", rest_, "others");
    davit_.add_subcommand(apply);
    auto store = std::make_shared<Command>("store", "copy FILE", "copies");
    store->option("--server", "URL", server_, "of this server");
    auto copy = std::make_shared<Command>("copy", "FILE", "copy", [this] {
      if (kind_.empty()) throw UsageError("into which file?");
      return ran("copy");
    });
    copy->word("FILE", kind_, "into this");
    copy->flag("--dry-run", watch_, "say what would go");
    store->verb(copy);
    davit_.add_subcommand(store);
  }

  int ran(const std::string& name) {
    ran_ += name;
    return exit_code_not_found;  // not that of bad usage
  }
  // What it wrote to standard error, after what has run.
  std::string said(const Words& words) {
    testing::internal::CaptureStderr();
    const int code = davit_.run(words);
    const std::string err = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, err.empty() ? exit_code_not_found : exit_code_usage);
    return std::exchange(ran_, {}) + err;
  }

  Command davit_{"davit", "COMMAND", "davit"};
  std::string kind_, region_, server_, ran_;
  bool watch_ = false;
  std::optional<std::chrono::milliseconds> timeout_;
  Words files_, rest_;
};

TEST_F(CommandLine, OptionsStandAnywhereAmongTheWords) {
  EXPECT_EQ(said({"get", "-r", "eu", "deployment", "--watch", "--timeout=5m"}), "get");
  EXPECT_EQ(kind_, "deployment");
  EXPECT_EQ(region_, "eu");
  EXPECT_TRUE(watch_);
  EXPECT_EQ(timeout_, std::chrono::minutes(5));
}

TEST_F(CommandLine, TheLastOfAnOptionWinsAndAFlagMayBeRepeated) {
  EXPECT_EQ(said({"get", "-r", "eu", "--region", "us", "-w", "-w"}), "get");
  EXPECT_EQ(region_, "us");
  EXPECT_TRUE(watch_);
}

TEST_F(CommandLine, AnEmptyValueIsNotTheNextWord) {
  EXPECT_EQ(said({"get", "--region=", "--watch"}), "get");
  EXPECT_EQ(region_, "");
  EXPECT_TRUE(watch_);
}

TEST_F(CommandLine, AShortOptionTakesItsValueInEveryForm) {
  for (const Words& words : {Words{"get", "-reu"}, Words{"get", "-r=eu"}, Words{"get", "-r", "eu"},
                             Words{"get", "--region=eu"}}) {
    EXPECT_EQ(said(words), "get");
    EXPECT_EQ(std::exchange(region_, {}), "eu") << words[1];
  }
  EXPECT_EQ(said({"get", "-r=", "--watch"}), "get");
  EXPECT_EQ(region_, "");
  EXPECT_TRUE(std::exchange(watch_, false));
  EXPECT_EQ(said({"get", "-w=true", "-r=a=b"}), "get");
  EXPECT_TRUE(watch_);
  EXPECT_EQ(region_, "a=b");
  EXPECT_EQ(said({"apply", "-f=-", "-f=x", "--", "-f=y"}), "apply");
  EXPECT_EQ(files_, (Words{"-", "x"}));
  EXPECT_EQ(rest_, (Words{"-f=y"}));
}

TEST_F(CommandLine, OptionsMayStandBeforeTheirCommand) {
  EXPECT_EQ(said({"--region", "get", "-w", "--timeout=5m", "get", "deployment"}), "get");
  EXPECT_EQ(region_, "get");
  EXPECT_TRUE(watch_);
  EXPECT_EQ(timeout_, std::chrono::minutes(5));
  EXPECT_EQ(kind_, "deployment");
  EXPECT_EQ(said({"--region", "eu", "get", "-r", "us"}), "get");
  EXPECT_EQ(region_, "us") << "the last one wins";
  EXPECT_EQ(said({"--server", "u", "--dry-run", "store", "copy", "get"}), "copy");
  EXPECT_EQ(server_, "u");
  EXPECT_EQ(kind_, "get");
  EXPECT_EQ(said({"-f", "a", "apply", "b", "-f", "c"}), "apply");
  EXPECT_EQ(files_, (Words{"a", "c"}));
}

TEST_F(CommandLine, WhatStandsBeforeACommandAndIsNoOptionOfItIsRefused) {
  EXPECT_EQ(said({"--server", "u", "get"}),
            "davit get: unknown option --server (usage: davit get [KIND])\n");
  EXPECT_EQ(said({"--server", "u", "got"}), "davit: no command \"got\"; did you mean \"get\"?\n");
  EXPECT_EQ(said({"--server", "u"}),
            "davit: which command? (--server is an option of commands; see davit help)\n");
  EXPECT_EQ(said({"--sever", "u", "store", "copy", "f"}),
            "davit: unknown option --sever; did you mean \"--server\"?\n");
  EXPECT_EQ(said({"--sever"}), "davit: unknown option --sever; did you mean \"--server\"?\n");
}

TEST_F(CommandLine, AFileIsNamedByEachOptionOfItsOwn) {
  EXPECT_EQ(said({"apply", "-f", "a", "b", "--file=[c,d]", "-f", "-", "[e,f]"}), "apply");
  EXPECT_EQ(files_, (Words{"a", "[c,d]", "-"}));
  EXPECT_EQ(rest_, (Words{"b", "[e,f]"}));
}

TEST_F(CommandLine, AfterTwoDashesEverythingIsAWord) {
  EXPECT_EQ(said({"apply", "x", "--", "-f", "--help", "--region="}), "apply");
  EXPECT_TRUE(files_.empty());
  EXPECT_EQ(rest_, (Words{"x", "-f", "--help", "--region="}));
}

TEST_F(CommandLine, AWordThatIsAlsoACommandIsAWord) {
  EXPECT_EQ(said({"get", "store"}), "get");
  EXPECT_EQ(kind_, "store");
  EXPECT_EQ(said({"store", "copy", "get"}), "copy");
  EXPECT_EQ(kind_, "get");
}

TEST_F(CommandLine, AVerbTakesTheOptionsOfItsCommandToo) {
  EXPECT_EQ(said({"store", "copy", "f", "--server", "a"}), "copy");
  EXPECT_EQ(server_, "a");
  EXPECT_EQ(said({"store", "--server", "b", "copy", "f"}), "copy");
  EXPECT_EQ(server_, "b");
}

TEST_F(CommandLine, NamesWhatItDoesNotKnowAndWhatIsNearest) {
  EXPECT_EQ(said({"got"}), "davit: no command \"got\"; did you mean \"get\"?\n");
  EXPECT_EQ(said({"fly", "--high"}), "davit: no command \"fly\"; see davit help\n");
  EXPECT_EQ(said({"--fast", "get"}), "davit: unknown option --fast\n");
  EXPECT_EQ(said({"get", "-x"}), "davit get: unknown option -x (usage: davit get [KIND])\n");
  EXPECT_EQ(said({"get", "--regoin=eu"}),
            "davit get: unknown option --regoin=eu; did you mean \"--region\"? (usage: davit get "
            "[KIND])\n");
  EXPECT_EQ(said({"get", "a", "b"}), "davit get: unexpected \"b\" (usage: davit get [KIND])\n");
  EXPECT_EQ(said({"store", "cpoy"}),
            "davit store: no command \"cpoy\"; did you mean \"copy\"? (usage: davit store copy "
            "FILE)\n");
  EXPECT_EQ(said({"store", "copy", "a", "b", "--sever", "x"}),
            "davit store: unexpected \"b\" (usage: davit store copy FILE)\n");
  EXPECT_EQ(said({"store", "copy", "--sever", "x"}),
            "davit store: unknown option --sever; did you mean \"--server\"? (usage: davit store "
            "copy FILE)\n");
}

TEST_F(CommandLine, NamesWhatIsMissing) {
  EXPECT_EQ(said({"store"}), "davit store: what? (copy) (usage: davit store copy FILE)\n");
  EXPECT_EQ(said({"store", "copy"}),
            "davit store: into which file? (usage: davit store copy FILE)\n");
  EXPECT_EQ(said({"get", "--region"}),
            "davit get: option --region needs a value (usage: davit get [KIND])\n");
}

TEST_F(CommandLine, AValueThatIsNoneIsSaid) {
  EXPECT_EQ(said({"get", "--timeout", "soon"}),
            "davit get: --timeout must be like 60s, 5m or 7d, not \"soon\" (usage: davit get "
            "[KIND])\n");
  EXPECT_EQ(said({"get", "--watch=maybe"}),
            "davit get: --watch takes no value \"maybe\" (usage: davit get [KIND])\n");
}

TEST_F(CommandLine, HelpIsPrintedWhateverElseIsWrong) {
  for (const Words& words : {Words{"store", "copy", "--help"}, Words{"store", "--help", "copy"},
                             Words{"store", "copy", "-x", "a", "b", "-h"}}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(davit_.run(words), exit_code_done);
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "davit store copy FILE\ncopy\n\n"
              "  FILE          into this\n"
              "  --dry-run     say what would go\n"
              "  --server URL  of this server\n");
  }
}

TEST(ServerOptions, TheEnvironmentNamesTheServerThatNoOptionNames) {
  const auto url = [](const Words& words) {
    ServerAddress server;
    Command davit("davit", "", "");
    auto get = std::make_shared<Command>("get", "", "", [] { return 0; });
    server.add_options(*get);
    davit.add_subcommand(get);
    EXPECT_EQ(davit.run(words), 0);
    return server.url;
  };
  ASSERT_EQ(::unsetenv("DAVIT_SERVER"), 0);
  EXPECT_EQ(url({"get"}), "unix:/run/davit/operator.sock");
  ASSERT_EQ(::setenv("DAVIT_SERVER", "", 1), 0);
  EXPECT_EQ(url({"get"}), "unix:/run/davit/operator.sock");
  ASSERT_EQ(::setenv("DAVIT_SERVER", "http://a:1", 1), 0);
  EXPECT_EQ(url({"get"}), "http://a:1");
  EXPECT_EQ(url({"get", "--server", "http://b:2"}), "http://b:2");
  ASSERT_EQ(::unsetenv("DAVIT_SERVER"), 0);
}

// All commands below this one, itself included.
void each(const Command& command, const std::function<void(const Command&)>& see) {
  see(command);
  for (const Command* below : command.commands()) each(*below, see);
}

TEST(Davit, EveryOptionAndWordSaysWhatItIsFor) {
  const CommandPtr davit = davit_command();
  size_t options = 0;
  each(*davit, [&](const Command& command) {
    EXPECT_FALSE(command.get_description().empty()) << command.path();
    for (const CLI::Option* option : command.get_options()) {
      ++options;
      EXPECT_FALSE(option->get_description().empty())
          << command.path() << " " << option->get_name();
    }
  });
  EXPECT_GT(options, 40u);
}

// Words before a command could not be told from values otherwise.
TEST(Davit, AnOptionMeansTheSameInAllCommands) {
  const CommandPtr davit = davit_command();
  std::map<std::string, std::string> meant;
  each(*davit, [&](const Command& command) {
    for (const CLI::Option* option : command.get_options()) {
      const std::string longer = option->get_lnames().empty() ? "" : option->get_lnames().front();
      const std::string means = longer + (option->get_expected_max() > 0 ? " VALUE" : "");
      for (const auto& names : {option->get_lnames(), option->get_snames()}) {
        for (const std::string& name : names)
          EXPECT_EQ(meant.emplace(name, means).first->second, means)
              << command.path() << " " << name;
      }
    }
  });
  EXPECT_GT(meant.size(), 20u);
}

TEST(Davit, TheExamplesOfTheHelpAreCommandsOfItsOwn) {
  const CommandPtr davit = davit_command();
  size_t examples = 0;
  each(*davit, [&](const Command& command) {
    const std::string text = command.get_footer();
    for (size_t at = 0; (at = text.find("davit ", at)) != std::string::npos; at += 6) {
      if (at < 2 || text[at - 1] == '/' || text.compare(at - 2, 2, "  ") != 0) continue;
      ++examples;
      EXPECT_EQ(text.compare(at + 6, command.path().size(), command.path()), 0)
          << command.path() << ":\n"
          << text;
    }
  });
  EXPECT_GT(examples, 10u);
}

}  // namespace
}  // namespace davit::host
