// The executable under a service manager: what it says to $NOTIFY_SOCKET, its signs of life, and
// how it ends before anybody has configured it.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "program.hpp"

namespace davit::test {
namespace {

// A variable of the environment of the processes that begin meanwhile.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// The service manager's end: hears every word, in order.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)), variable_("NOTIFY_SOCKET", path) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    thread_ = std::thread([this] { listen(); });
  }
  ~NotifySocket() {
    end();
    ::close(socket_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  // Waits for the `count`th word that begins so, and returns it. Empty: it does not come.
  std::string wait_for(const std::string& begin, int count = 1) {
    std::unique_lock lock(mutex_);
    std::string found;
    heard_.wait_for(lock, std::chrono::seconds(30), [&] {
      int left = count;
      for (const std::string& word : words_) {
        if (word.starts_with(begin) && --left == 0) found = word;
      }
      return left <= 0;
    });
    return found;
  }
  // Everything, once the process has ended.
  std::vector<std::string> all() {
    end();
    return words_;
  }

 private:
  void end() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void listen() {
    constexpr int look_ms = 20;
    char buffer[4096];
    while (true) {
      const bool last = over_;
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, last ? 0 : look_ms) <= 0) {
        if (last) return;
        continue;
      }
      const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
      const std::lock_guard lock(mutex_);
      words_.emplace_back(buffer, static_cast<size_t>(std::max<ssize_t>(0, n)));
      heard_.notify_all();
    }
  }

  const int socket_;
  const Variable variable_;
  std::mutex mutex_;
  std::condition_variable heard_;
  std::vector<std::string> words_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class Supervised : public Program {
 protected:
  NotifySocket notify_socket_{folder_.path() + "/notify"};
};

TEST_F(Supervised, TellsOfStartReloadAndStop) {
  Process davit({"run", file("stop_delay_ms = 100\nstop_timeout_ms = 4000\n[plugin.a]\nmodule = "
                             "\"actor\"\n")});
  EXPECT_EQ(notify_socket_.wait_for("READY=1"), "READY=1\nSTATUS=runs with 1 plugins");
  davit.signal(SIGHUP);
  EXPECT_EQ(notify_socket_.wait_for("READY=1", 2), "READY=1\nSTATUS=runs with 1 plugins");
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  const auto words = notify_socket_.all();
  ASSERT_GE(words.size(), 4u);
  ASSERT_EQ(words[1].find("RELOADING=1\nMONOTONIC_USEC="), 0u) << words[1];
  EXPECT_GT(std::atoll(words[1].c_str() + std::strlen("RELOADING=1\nMONOTONIC_USEC=")), 0);
  // The delay, the time to stop, and three seconds in which the process ends itself.
  EXPECT_EQ(words[3], "STOPPING=1\nEXTEND_TIMEOUT_USEC=7100000");
}

TEST_F(Supervised, IsReloadedByTheCheckThatFindsNoFault) {
  const std::string path = file("[plugin.a]\nmodule = \"actor\"\n");
  Process davit({"run", path});
  ASSERT_NE(notify_socket_.wait_for("READY=1"), "") << davit.err();
  Process right({"check", "--quiet", "--reload", std::to_string(davit.pid()), path});
  EXPECT_EQ(right.wait(), 0) << right.err();
  EXPECT_NE(notify_socket_.wait_for("READY=1", 2), "");
  folder_.write("a.toml", "[host]\nlog_leve = \"info\"\n");
  Process wrong({"check", "--quiet", "--reload", std::to_string(davit.pid()), path});
  EXPECT_EQ(wrong.wait(), 2);
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
  const auto words = notify_socket_.all();
  EXPECT_EQ(std::ranges::count_if(words, [](const auto& w) { return w.starts_with("RELOADING"); }),
            1);
  Process nobody({"check", "--quiet", "--reload", "0", path});
  EXPECT_EQ(nobody.wait(), 2);
}

TEST_F(Supervised, TellsWhyAReloadChangedNothing) {
  const std::string path = file("[plugin.a]\nmodule = \"actor\"\n");
  Process davit({"run", path});
  ASSERT_NE(notify_socket_.wait_for("READY=1"), "") << davit.err();
  folder_.write("a.toml", "[host]\nlog_leve = \"info\"\n");
  davit.signal(SIGHUP);
  EXPECT_EQ(notify_socket_.wait_for("READY=1", 2),
            "READY=1\nSTATUS=not reloaded: " + path +
                ":2: host.log_leve: unknown key; did you mean \"log_level\"?");
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0);
}

TEST_F(Supervised, GivesSignsOfLifeUntilTheStop) {
  const Variable asked("WATCHDOG_USEC", "200000");
  Process davit({"run", file("[plugin.a]\nmodule = \"actor\"\n")});
  EXPECT_EQ(notify_socket_.wait_for("WATCHDOG=1", 5), "WATCHDOG=1") << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
}

TEST_F(Supervised, GivesNoSignOfLifeThatAnotherProcessIsAskedFor) {
  const Variable asked("WATCHDOG_USEC", "4000"), of("WATCHDOG_PID", "1");
  Process davit({"run", file("stop_delay_ms = 200\n[plugin.a]\nmodule = \"actor\"\n")});
  ASSERT_TRUE(davit.wait_for_line("ready")) << davit.err();
  davit.signal(SIGTERM);
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  const auto words = notify_socket_.all();
  EXPECT_EQ(std::ranges::count(words, "WATCHDOG=1"), 0);
}

// So the service manager ends the process, and starts it again.
TEST_F(Supervised, GivesNoSignOfLifeMoreWhenAPoolOrAStrandHangs) {
  const std::pair<const char*, const char*> rows[] = {
      {"whole pool", "the pool of \"b\" ends no task, and others wait"},
      {"strand", "a task of \"b\" does not return"}};
  for (const auto& [hangs, why] : rows) {
    NotifySocket notify_socket(folder_.path() + "/" + std::string(hangs).substr(0, 5));
    const Variable asked("WATCHDOG_USEC", "2000000");
    Process davit({"run", file("stop_timeout_ms = 100\n[plugin.b]\nmodule = \"breaker\"\n"
                               "breaks_in = \"" +
                               std::string(hangs) + "\"\nhow = \"hang\"\n")});
    const std::string status = "STATUS=hangs: " + std::string(why);
    EXPECT_EQ(notify_socket.wait_for("STATUS=hangs"), status) << davit.err();
    EXPECT_TRUE(davit.wait_for_line("gives the service manager no sign of life any more why="))
        << davit.err();
    davit.signal(SIGTERM);
    EXPECT_EQ(davit.wait(), 3) << davit.err();
    const auto words = notify_socket.all();
    const auto told = std::ranges::find(words, status);
    EXPECT_EQ(std::count(told, words.end(), "WATCHDOG=1"), 0) << hangs;
  }
}

TEST_F(Program, WithoutAConfigurationSaysInOneLineWhereToWriteIt) {
  const std::string path = folder_.path() + "/agent.toml", site = folder_.path() + "/agent.conf.d";
  Process davit({"run", path, site});
  EXPECT_EQ(davit.wait(), 78);
  EXPECT_EQ(davit.err(), path +
                             ": there is no such file: write the configuration into it, or what is "
                             "of this site into " +
                             site + "/*.toml\n");
}

TEST_F(Program, WithoutTheTokenOfItsConfigurationSaysInOneLineWhatToWrite) {
  const std::string path = file(
      "log_level = \"error\"\n[rpc.client.control]\nurl = \"http://127.0.0.1:1\"\n"
      "token_file = \"agent.token\"\nregion = \"eu-1\"\n[plugin.a]\nmodule = \"actor\"\n");
  const std::string site = folder_.path() + "/agent.conf.d";
  Process davit({"run", path, site});
  EXPECT_EQ(davit.wait(), 78);
  EXPECT_EQ(davit.err(), path + ":7: rpc.client.control.token_file: " + folder_.path() +
                             "/agent.token: there is no such file: write it, or name another one "
                             "in " +
                             site + "/*.toml\n");
}

TEST_F(Program, ACredentialThatIsNotGivenIsAFaultOfTheConfiguration) {
  const std::string path = file(
      "log_level = \"error\"\n[rpc.client.control]\nurl = \"http://127.0.0.1:1\"\n"
      "token_file = \"credential:agent\"\nregion = \"eu-1\"\n[plugin.a]\nmodule = \"actor\"\n");
  const Variable given("CREDENTIALS_DIRECTORY", folder_.path());
  Process davit({"run", path});
  EXPECT_EQ(davit.wait(), 2);
  EXPECT_EQ(davit.err(), path +
                             ":7: rpc.client.control.token_file: there is no credential \"agent\": "
                             "put it into /etc/davit/credentials/agent, or write "
                             "LoadCredential=agent:FILE into the unit, and restart\n");
}

// ExecReload= of systemd gives its commands no credentials.
TEST_F(Program, TheCheckBeforeAReloadLeavesToTheRunningOneWhatNeedsItsCredentials) {
  const std::string body =
      "[rpc.client.control]\nurl = \"http://127.0.0.1:1\"\n"
      "token_file = \"credential:agent\"\nregion = \"eu-1\"\n[plugin.a]\nmodule = \"actor\"\n";
  const std::string left =
      "credentials are checked by the running davit, which alone has them, when it reads the files "
      "again\n";
  {
    Process davit({"check", "--running", "--quiet", file(body)});
    EXPECT_EQ(davit.wait(), 0);
    EXPECT_EQ(davit.out(), "");
    EXPECT_EQ(davit.err(), left);
  }
  const std::string path = file(body + "usez = []\n");
  Process broken({"check", "--running", "--quiet", path});
  EXPECT_EQ(broken.wait(), 2);
  EXPECT_EQ(broken.err(), path + ":10: plugin.a.usez: unknown key; did you mean \"uses\"?\n");
  Process elsewhere({"check", file(body)});
  EXPECT_EQ(elsewhere.wait(), 2);
}

TEST_F(Program, CheckIsSilentWhenToldTo) {
  Process davit({"check", "--quiet", file("[plugin.a]\nmodule = \"actor\"\n")});
  EXPECT_EQ(davit.wait(), 0);
  EXPECT_EQ(davit.out() + davit.err(), "");
}

TEST_F(Program, SaysWhatItNeedsBeyondTheSandboxOfTheUnits) {
  folder_.write("plugins/needy.so", "");
  folder_.write("plugins/needy.sandbox", "# it runs programs\nExecPaths=/usr /opt\n");
  const std::string path = folder_.write(
      "b.toml",
      "[host]\nplugin_dirs = [\"plugins\"]\nstate_dir = \"/srv/davit\"\n[rpc.server.main]\n"
      "listen = \"0.0.0.0:443\"\n[plugin.n]\nmodule = \"needy\"\n[plugin.m]\nmodule = \"needy\"\n");
  Process davit({"check", "--sandbox", path});
  EXPECT_EQ(davit.wait(), 0) << davit.err();
  EXPECT_EQ(davit.out(),
            "# systemctl edit UNIT: what these files need beyond the shipped unit\n[Service]\n"
            "# host.state_dir\nReadWritePaths=/srv/davit\n"
            "# host.plugin_dirs\nExecPaths=" +
                folder_.path() +
                "/plugins\n"
                "# rpc.server.main.listen is 0.0.0.0:443: only with this right, or if a .socket "
                "unit holds it\n"
                "CapabilityBoundingSet=CAP_NET_BIND_SERVICE\n"
                "AmbientCapabilities=CAP_NET_BIND_SERVICE\n"
                "# plugin.n is of module needy:\n# it runs programs\nExecPaths=/usr /opt\n");
}

}  // namespace
}  // namespace davit::test
