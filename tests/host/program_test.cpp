// The executable's life: start and stop in order, signals, plugins that overstay, merged files,
// what check prints.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "port.hpp"
#include "program.hpp"

namespace davit::test {
namespace {

// One request on a connection of its own; "" when nobody listens.
std::string http_get(uint16_t port, const std::string& path) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string out;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    EXPECT_EQ(::write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    char buffer[4096];
    for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;)
      out.append(buffer, static_cast<size_t>(n));
  }
  ::close(fd);
  return out;
}

// So that the dynamic linker leaves no registers, and so no secrets, on a stack.
TEST_F(Program, RunsWithAllFunctionsOfItsLibrariesLookedUp) {
  Process davit({"run", file("core_dumps = true\n[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready plugins=1")) << davit.err();
  std::ifstream environment("/proc/" + std::to_string(davit.pid()) + "/environ");
  std::stringstream all;
  all << environment.rdbuf();
  EXPECT_NE(all.str().find("LD_BIND_NOW=1"), std::string::npos);
  std::ifstream name("/proc/" + std::to_string(davit.pid()) + "/comm");
  std::string comm;
  std::getline(name, comm);
  EXPECT_EQ(comm, "davit");
}

TEST_F(Program, CreatesInFileOrderStartsWhatIsUsedFirstAndStopsInReverse) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\nuses = [\"c\"]\n"
                             "[plugin.b]\nmodule = \"actor\"\n[plugin.c]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready plugins=3")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  EXPECT_EQ(steps(davit.err(), {"create", "wire", "start", "stop", "destroy"}),
            "a create,b create,c create,a wire,b wire,c wire,b start,c start,a start,a stop,c "
            "stop,b stop,"
            "a destroy,c destroy,b destroy");
}

TEST_F(Program, EndsWithZeroOnSigint) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGINT);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_NE(davit.err().find("stopping signal=SIGINT"), std::string::npos);
}

// "0 bytes" of /proc/PID/limits.
std::string core_limit(pid_t pid) {
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  for (std::string line; std::getline(limits, line);) {
    std::istringstream words(line);
    std::string max, core, file, size, soft;
    if (words >> max >> core >> file >> size >> soft && core == "core") return soft;
  }
  return "none";
}

#ifdef DAVIT_SANITIZED
constexpr bool runtime_forbids_core_dumps = true;
#else
constexpr bool runtime_forbids_core_dumps = false;
#endif

TEST_F(Program, LeavesNoCoreDumpUnlessToldTo) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_CORE, &limit), 0);
  const std::string own = core_limit(getpid());
  for (const bool dumps : {false, true}) {
    Process davit(
        {"run", folder_.write("a.toml", head + "core_dumps = " + (dumps ? "true" : "false") +
                                            "\n[plugin.a]\nmodule = \"actor\"\n")});
    ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
    EXPECT_EQ(core_limit(davit.pid()), dumps && !runtime_forbids_core_dumps ? own : "0");
    davit.signal(SIGTERM);
    EXPECT_EQ(davit.wait(), 0);
  }
  setrlimit(RLIMIT_CORE, &before);
}

TEST_F(Program, IgnoresSigpipe) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGPIPE);
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
}

TEST_F(Program, ATimerThatWaitsEndsUnfiredBeforeItsPluginIsDestroyed) {
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\ntimer = true\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_EQ(steps(davit.err(), {"stop", "timer fired", "timer ended unfired", "destroy"}),
            "a stop,a timer ended unfired,a destroy");
}

TEST_F(Program, LaterFilesAndFoldersOverrideEarlierOnes) {
  const std::string first = file(
      "[plugin.b]\nmodule = \"actor\"\nfails_in = \"start\"\n[plugin.a]\nmodule = \"actor\"\n");
  folder_.write("conf.d/20-last.toml", "[plugin.b]\nfails_in = \"\"\n");
  folder_.write("conf.d/10-first.toml",
                "[plugin.b]\nfails_in = \"create\"\n[plugin.c]\nmodule = \"actor\"\n");
  folder_.write("conf.d/note.txt", "not read");
  Process davit({"run", first, folder_.path() + "/conf.d", folder_.path() + "/absent.d/"});
  ASSERT_TRUE(davit.wait_for_line("ready plugins=3")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_EQ(steps(davit.err(), {"start"}), "b start,a start,c start");
}

TEST_F(Program, AFaultNamesTheFileThatSaidIt) {
  const std::string first = file("log_level = \"warn\"\n[plugin.b]\nmodule = \"actor\"\n");
  const std::string second = folder_.write("conf.d/10.toml", "\n[plugin.b]\nuzes = []\n");
  Process davit({"check", first, folder_.path() + "/conf.d"});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), second + ":3: plugin.b.uzes: unknown key; did you mean \"uses\"?\n");
}

TEST_F(Program, ALookUpThatFailsIsSaidWhereTheNameWasWritten) {
  const std::string first = file(
      "log_level = \"warn\"\n[plugin.b]\nmodule = \"actor\"\n"
      "[plugin.a]\nmodule = \"actor\"\nuses = [\"b\"]\n");
  const std::string second = folder_.write("b.toml", "[plugin.a]\nuses = [\"bb\"]\n");
  Process davit({"check", first, second});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), second + ":2: plugin.a.uses: no plugin \"bb\"; did you mean \"b\"?\n");
}

TEST_F(Program, CheckFindsWhatAStartWouldMeet) {
  const Port taken;
  taken.listen();
  const std::string at = taken.address();
  const std::string body =
      "log_level = \"warn\"\nmetrics_listen = \"" + at + "\"\n[plugin.a]\nmodule = \"actor\"\n";
  const std::string in_use = "cannot listen on " + at + ": Address already in use\n";
  {
    Process davit({"check", file(body)});
    EXPECT_EQ(davit.wait(), 2);
    EXPECT_EQ(davit.err(), in_use);
  }
  Process running({"check", "--running", file(body)});
  EXPECT_EQ(running.wait(), 0) << running.err();
  const std::string path =
      folder_.write("c.toml", "[host]\nlog_level = \"warn\"\nplugin_dirs = [\"" FIXTURES
                              "\"]\nmetrics_listen = "
                              "\"192.0.2.1:80\"\n[plugin.a]\nmodule = \"actor\"\n");
  Process davit({"check", path});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), "cannot listen on 192.0.2.1:80: Cannot assign requested address\n");
}

TEST_F(Program, OutputThatCannotBeWrittenIsAFailure) {
  Process davit({"plugin", "list", "--dir", FIXTURES}, "/dev/full");
  EXPECT_EQ(davit.wait(), 1);
  EXPECT_NE(davit.err().find("davit plugin: the output cannot be written: No space left on device"),
            std::string::npos)
      << davit.err();
}

TEST_F(Program, CheckPrintsTheGraphAndStartsNothing) {
  Process davit(
      {"check", file("log_level = \"warn\"\n[plugin.a]\nmodule = \"actor\"\nuses = [\"c\", \"b\"]\n"
                     "[plugin.b]\nmodule = \"actor\"\n[plugin.c]\nmodule = \"actor\"\nuses = "
                     "[\"b\"]\npool_threads = 5\n")});
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_EQ(davit.err(), "");
  EXPECT_EQ(davit.out(),
            "INSTANCE  MODULE  VERSION  ROLES        NEEDS  POOL  USES\n"
            "b         actor   0.0.1    test.role/1  rpc/1  2\n"
            "c         actor   0.0.1    test.role/1  rpc/1  5     b\n"
            "a         actor   0.0.1    test.role/1  rpc/1  2     b, c\n");
}

TEST_F(Program, EveryInstanceOfARoleIsSeenAndStartsBefore) {
  Process davit(
      {"run", file("[plugin.a]\nmodule = \"actor\"\nall = true\n[plugin.b]\nmodule = \"actor\"\n"
                   "[plugin.c]\nmodule = \"thrower\"\nthrows_in = \"\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready"));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_NE(davit.err().find("sees other=b"), std::string::npos);
  EXPECT_EQ(davit.err().find("sees other=c"), std::string::npos);
  EXPECT_EQ(steps(davit.err(), {"start"}), "b start,a start");
}

TEST_F(Program, LogsJsonLinesWhenToldTo) {
  Process davit({"run", file("log_format = \"json\"\n[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("\"message\":\"ready\""));
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_NE(davit.err().find("\"level\":\"info\",\"instance\":\"a\",\"message\":\"start\"}"),
            std::string::npos);
}

TEST_F(Program, ShowsItsHealthOverHttpAndAnIdleConnectionDoesNotHoldItUp) {
  const Port port;
  Process davit({"run", file("metrics_listen = \"" + port.address() +
                             "\"\n[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  EXPECT_EQ(http_get(port.number(), "/readyz").substr(0, 15), "HTTP/1.1 200 OK");
  const int idle = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port.number());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(idle, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(http_get(port.number(), "/healthz").substr(0, 15), "HTTP/1.1 200 OK");
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  ::close(idle);
}

TEST_F(Program, IsNotReadyWhileItStops) {
  const Port port;
  Process davit({"run", file("stop_timeout_ms = 60000\nmetrics_listen = \"" + port.address() +
                             "\"\n[plugin.b]\nmodule = \"actor\"\nhangs_in = \"stop\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  ASSERT_TRUE(davit.wait_for_line(" stop\n"));
  const std::string answer = http_get(port.number(), "/readyz");
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 503") << answer;
  EXPECT_NE(answer.find("\r\n\r\nnot serving: b: stopping\n"), std::string::npos) << answer;
  EXPECT_EQ(http_get(port.number(), "/healthz").substr(0, 15), "HTTP/1.1 200 OK");
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 1);
}

TEST_F(Program, LetsCallersLeaveBeforeItStops) {
  const Port port;
  const std::string config = file("stop_delay_ms = 60000\nmetrics_listen = \"" + port.address() +
                                  "\"\n[plugin.b]\nmodule = \"actor\"\n");
  Process davit({"run", config});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  ASSERT_TRUE(davit.wait_for_line("stopping signal=SIGTERM delay_ms=60000"));
  std::string answer;
  do answer = http_get(port.number(), "/readyz");
  while (answer.substr(0, 12) == "HTTP/1.1 200");
  EXPECT_NE(answer.find("\r\n\r\nnot serving: host: stopping soon\n"), std::string::npos) << answer;
  EXPECT_EQ(davit.err().find(" stop\n"), std::string::npos) << "no plugin has been stopped";
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 1) << "a second signal does not wait";

  Process in_a_terminal({"run", config});
  ASSERT_TRUE(in_a_terminal.wait_for_line("ready")) << in_a_terminal.err();
  in_a_terminal.signal(SIGINT);
  EXPECT_EQ(in_a_terminal.wait(), 0) << in_a_terminal.err();
}

TEST_F(Program, StopsInOrderWhenCallersHaveHadTheTimeToLeave) {
  Process davit({"run", file("stop_delay_ms = 300\nstop_timeout_ms = 100\n[plugin.b]\nmodule = "
                             "\"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  EXPECT_EQ(steps(davit.err(), {"stop", "destroy"}), "b stop,b destroy");
}

TEST_F(Program, APortInUseIsOneLine) {
  const Port taken;
  taken.listen();
  const std::string at = taken.address();
  Process davit({"run", file("log_level = \"warn\"\nmetrics_listen = \"" + at +
                             "\"\n[plugin.a]\nmodule = \"actor\"\n")});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(),
            "host.metrics_listen: cannot listen on " + at + ": Address already in use\n");
}

TEST_F(Program, ListsPluginsWithoutLoadingThem) {
  Process davit({"plugin", "list", "--dir", FIXTURES});
  EXPECT_EQ(davit.wait(), 1) << "some of them are broken";
  EXPECT_NE(
      davit.out().find("actor             0.0.1    1.0  test.role/1               rpc/1  " FIXTURES
                       "/actor.so\n"),
      std::string::npos)
      << davit.out();
  EXPECT_NE(davit.out().find("abi_two.so: built for ABI 2, this host speaks 1"), std::string::npos);
  EXPECT_NE(davit.out().find("needs_more.so: needs \"teleport/1\", which this host does not know"),
            std::string::npos);
}

TEST_F(Program, PrintsItsVersion) {
  Process davit({"--version"});
  EXPECT_EQ(davit.wait(), 0);
  const std::string out = davit.out();
  EXPECT_EQ(out.find("davit " DAVIT_VERSION "\n"), 0u) << "scripts read the first line";
  for (const char* line : {"\ncommit: ", "\ncompiler: ", "\nbuild: "})
    EXPECT_NE(out.find(line), std::string::npos) << out;
  EXPECT_NE(out.find("\nabi: 1." + std::to_string(DAVIT_ABI_MINOR) + " (takes plugins of 1.0 to "),
            std::string::npos)
      << out;
  Process command({"version"});
  EXPECT_EQ(command.wait(), 0);
  EXPECT_EQ(command.out(), out);
}

}  // namespace
}  // namespace davit::test
