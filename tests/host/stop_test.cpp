// How the executable ends: in order, in time, and never under a running call.
#include <csignal>

#include "program.hpp"

namespace davit::test {
namespace {

TEST_F(Program, NamesThePluginThatHangsInStopAndEnds) {
  Process davit({"run", file("stop_timeout_ms = 200\n[plugin.a]\nmodule = \"actor\"\n"
                             "[plugin.b]\nmodule = \"actor\"\nhangs_in = \"stop\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 3);
  EXPECT_NE(davit.err().find("did not stop in time; ending without it instance=b "
                             "stop_timeout_ms=200 doing=stop why=\"does not return from stop\""),
            std::string::npos)
      << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "b stop");
}

TEST_F(Program, EndsInTimeWhateverHangsBeforeItRunsAndNamesIt) {
  for (const std::string step : {"create", "wire", "start"}) {
    Process davit({"run", file("stop_timeout_ms = 100\n[plugin.a]\nmodule = \"actor\"\n"
                               "[plugin.b]\nmodule = \"actor\"\nhangs_in = \"" +
                               step + "\"\n")});
    ASSERT_TRUE(davit.wait_for_line("b         " + step + "\n")) << davit.err();
    davit.signal(SIGTERM);
    EXPECT_EQ(davit.wait(), 3);
    EXPECT_NE(davit.err().find("ending without it instance=b stop_timeout_ms=100 doing=" + step),
              std::string::npos)
        << davit.err();
  }
}

TEST_F(Program, NamesWhoHoldsTheWorkers) {
  Process davit({"run", file("stop_timeout_ms = 100\nworker_threads = 1\n[plugin.a]\nmodule = "
                             "\"actor\"\n[plugin.b]\nmodule = \"actor\"\nhangs_on = "
                             "\"strand\"\n")});
  ASSERT_TRUE(davit.wait_for_line("hangs"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 3);
  EXPECT_NE(davit.err().find("ending without it instance=b stop_timeout_ms=100 doing=work why=\"a "
                             "task of \\\"b\\\", holds a worker\""),
            std::string::npos)
      << davit.err();
}

// A storage's calls, say: what they use must not go away under them.
TEST_F(Program, StopsAndDestroysNothingUnderACallThatRuns) {
  Process davit({"run", file("stop_timeout_ms = 100\n[plugin.b]\nmodule = \"actor\"\n[plugin.a]\n"
                             "module = \"actor\"\nuses = [\"b\"]\ncalls = \"b\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  ASSERT_TRUE(davit.wait_for_line("hangs"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 3);
  EXPECT_NE(davit.err().find("ending without it instance=b stop_timeout_ms=100 doing=stop why=\"a "
                             "call of \\\"a\\\" has not ended\""),
            std::string::npos)
      << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "a stop");
}

TEST_F(Program, ReadsItsConfigurationAgainOnSighupAndSaysWhatTakesARestart) {
  const std::string path = file("log_level = \"info\"\n[plugin.a]\nmodule = \"actor\"\n");
  Process davit({"run", path});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  folder_.write("a.toml", head +
                              "log_level = \"debug\"\n[plugin.a]\nmodule = \"actor\"\n"
                              "fails_in = \"start\"\n");
  davit.signal(SIGHUP);
  EXPECT_TRUE(davit.wait_for_line("read again changes_that_take_a_restart=1")) << davit.err();
  EXPECT_NE(davit.err().find("reloaded key=\"host.log_level"), std::string::npos);
  EXPECT_NE(davit.err().find("changed; takes a restart key=plugin.a.fails_in where=" + path + ":7"),
            std::string::npos)
      << davit.err();
  folder_.write("a.toml", "[host\n");
  davit.signal(SIGHUP);
  EXPECT_TRUE(davit.wait_for_line("not reloaded: the configuration has a fault")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, TakesOtherTokensOnSighupWithoutARestart) {
  folder_.write("one.token", "0123456789abcdef\n");
  folder_.write("two.token", "fedcba9876543210\n");
  const auto with = [](const std::string& tokens) {
    return "[plugin.a]\nmodule = \"actor\"\n[rpc.server.main]\nlisten = \"127.0.0.1:0\"\n" + tokens;
  };
  const auto token = [](const std::string& name) {
    return "[[rpc.server.main.token]]\nname = \"" + name + "\"\nfile = \"" + name +
           ".token\"\nregions = [\"" + name + "\"]\n";
  };
  Process davit({"run", file(with(token("one")))});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  file(with(token("one") + token("two")));
  davit.signal(SIGHUP);
  EXPECT_TRUE(davit.wait_for_line("reloaded key=rpc.server.main.token tokens=2")) << davit.err();
  EXPECT_TRUE(davit.wait_for_line("changes_that_take_a_restart=0")) << davit.err();
  file(with(token("one") + token("three")));
  davit.signal(SIGHUP);
  EXPECT_TRUE(davit.wait_for_line("three.token: no such file")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, AFaultAnywhereInTheFileTakesNothingOfItOnSighup) {
  for (const char* name : {"one", "two"})
    folder_.write(std::string(name) + ".token", std::string(name) + "-0123456789abcdef\n");
  const auto with = [](const std::string& level, const std::string& token,
                       const std::string& more) {
    return "log_level = \"" + level + "\"\n[plugin.a]\nmodule = \"actor\"\n[rpc.server.main]\n" +
           "listen = \"127.0.0.1:0\"\n[[rpc.server.main.token]]\nname = \"" + token +
           "\"\nfile = \"" + token + ".token\"\nregions = [\"r\"]\n" + more;
  };
  Process davit({"run", file(with("info", "one", ""))});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  const std::pair<const char*, const char*> faults[] = {
      {"rol = \"operator\"\n", "rol: unknown key; did you mean \\\"role\\\""},
      {"[hots]\n", "hots: unknown key"},
      {"[plugin.B]\n", "plugin.B: an instance's name is lower_snake_case"}};
  for (const auto& [fault, named] : faults) {
    file(with("debug", "two", fault));
    davit.signal(SIGHUP);
    EXPECT_TRUE(davit.wait_for_line(named)) << davit.err();
  }
  EXPECT_EQ(davit.err().find("reloaded key="), std::string::npos) << davit.err();
  file(with("debug", "two", ""));
  davit.signal(SIGHUP);
  EXPECT_TRUE(davit.wait_for_line("reloaded key=rpc.server.main.token")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, ASlowStopIsCancelledAtTheDeadlineAndThenClean) {
  Process davit(
      {"run",
       file("stop_timeout_ms = 200\n[plugin.b]\nmodule = \"actor\"\nwaits_in = \"stop\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, ASecondSignalEndsAtOnce) {
  Process davit(
      {"run",
       file("stop_timeout_ms = 60000\n[plugin.b]\nmodule = \"actor\"\nhangs_in = \"stop\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  ASSERT_TRUE(davit.wait_for_line(" stop\n"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 1);
}

TEST_F(Program, ASignalWhileStartingEndsItWithZero) {
  Process davit(
      {"run",
       file("[plugin.b]\nmodule = \"actor\"\nwaits_in = \"start\"\nfails_in = \"start\"\n")});
  ASSERT_TRUE(davit.wait_for_line(" start\n"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Program, APluginEndsItWithOneAndAReasonAfterACleanStop) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n[plugin.b]\nmodule = "
                             "\"actor\"\nshuts_down_in = \"start\"\nshutdown_ms = 60000\n")});
  EXPECT_EQ(davit.wait(), 1) << davit.err();
  EXPECT_NE(davit.err().find("b         ends the process reason=\"was told to\" within_ms=5"),
            std::string::npos)
      << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "b stop,a stop,b destroy,a destroy");
}

TEST_F(Program, APluginEndsItInTimeWhateverHangs) {
  Process davit({"run", file("stop_timeout_ms = 60000\n[plugin.a]\nmodule = \"actor\"\n"
                             "hangs_in = \"stop\"\n[plugin.b]\nmodule = \"actor\"\n"
                             "shuts_down_in = \"start\"\nshutdown_ms = 2000\n")});
  EXPECT_EQ(davit.wait(), 1) << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "b stop,a stop");
}

TEST_F(Program, APluginEndsItWhileItStops) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\nshuts_down_in = \"stop\"\n"
                             "shutdown_ms = 60000\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 1) << davit.err();
}

// It says that not all of its work has ended.
TEST_F(Program, AFailingStopEndsItWithoutStoppingWhatMayBeInUse) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n[plugin.b]\nmodule = "
                             "\"thrower\"\nthrows_in = \"stop\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 3);
  EXPECT_NE(davit.err().find("ending without it instance=b"), std::string::npos) << davit.err();
  EXPECT_NE(davit.err().find("ouch in stop"), std::string::npos) << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "");
}

}  // namespace
}  // namespace davit::test
