#include "services/passed_sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

namespace davit::host {
namespace {

// On IPv4, or on IPv6 for both.
int listening(int family, bool any, bool listens = true) {
  const int fd = ::socket(family, SOCK_STREAM, 0);
  sockaddr_storage at{};
  at.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = sizeof(sockaddr_in6);
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(at).sin_addr.s_addr = htonl(any ? INADDR_ANY : INADDR_LOOPBACK);
    size = sizeof(sockaddr_in);
  }
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_EQ(listens ? ::listen(fd, 1) : 0, 0);
  return fd;
}

int listening_on_path(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  EXPECT_EQ(::listen(fd, 1), 0);
  return fd;
}

// What `body` says in a process to which these descriptors are passed, as a service manager does.
std::string in_process(const std::vector<int>& fds, const char* names,
                       const std::function<std::string(PassedSockets&)>& body,
                       const char* other_pid = nullptr) {
  int out[2];
  EXPECT_EQ(::pipe(out), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int above = 100;
    const int answer = ::fcntl(out[1], F_DUPFD, above);
    std::vector<int> kept;
    for (const int fd : fds) kept.push_back(::fcntl(fd, F_DUPFD, above));
    for (size_t i = 0; i < kept.size(); ++i) ::dup2(kept[i], 3 + static_cast<int>(i));
    ::setenv("LISTEN_PID", other_pid != nullptr ? other_pid : std::to_string(::getpid()).c_str(),
             1);
    ::setenv("LISTEN_FDS", std::to_string(fds.size()).c_str(), 1);
    ::setenv("LISTEN_FDNAMES", names, 1);
    PassedSockets passed = PassedSockets::from_environment();
    const std::string text = body(passed);
    const ssize_t written = ::write(answer, text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(out[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(out[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  ::close(out[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int fd : fds) ::close(fd);
  return text;
}

std::string taken(PassedSockets& passed, std::string_view key, std::string_view address) {
  const auto fds = passed.take(key, address);
  if (!fds.ok()) return fds.error().message;
  std::string out;
  for (const int fd : *fds) out += (out.empty() ? "" : " ") + address_of_listening(fd);
  return out.empty() ? "none" : out;
}

TEST(PassedSockets, AreFoundByTheirAddress) {
  const int main = listening(AF_INET, false), other = listening(AF_INET, false);
  const std::string at = address_of_listening(main), rest = address_of_listening(other);
  EXPECT_EQ(in_process({main, other}, "davit-server.socket:davit-server.socket",
                       [&](PassedSockets& passed) {
                         const std::string first = taken(passed, "rpc.server.main", at);
                         const std::string second = taken(passed, "rpc.server.main", at);
                         return first + ", " + second + ", " + passed.close().front();
                       }),
            at + ", none, " + rest + " (davit-server.socket)");
}

TEST(PassedSockets, AreFoundByTheirNameWhateverTheirAddress) {
  const int fd = listening(AF_INET, false);
  const std::string at = address_of_listening(fd);
  EXPECT_EQ(in_process({fd}, "rpc.server.main",
                       [](PassedSockets& passed) {
                         return taken(passed, "rpc.server.operator", "unix:/x") + ", " +
                                taken(passed, "rpc.server.main", "0.0.0.0:1");
                       }),
            "none, " + at);
}

// ListenStream=7070 is a socket of IPv6 that takes callers of both.
TEST(PassedSockets, ThatTakeCallersOfBothFamiliesStandForEveryInterface) {
  const int fd = listening(AF_INET6, true);
  const std::string at = address_of_listening(fd);
  EXPECT_EQ(in_process({fd}, "x.socket",
                       [&](PassedSockets& passed) {
                         return taken(passed, "host.metrics_listen",
                                      "0.0.0.0" + at.substr(at.rfind(':')));
                       }),
            at);
}

TEST(PassedSockets, OfAPathAreFound) {
  const std::string path = testing::TempDir() + "davit-passed-" + std::to_string(::getpid());
  const int fd = listening_on_path(path);
  EXPECT_EQ(in_process({fd}, "",
                       [&](PassedSockets& passed) {
                         return taken(passed, "rpc.server.operator", "unix:" + path + "x") + ", " +
                                taken(passed, "rpc.server.operator", "unix:" + path);
                       }),
            "none, unix:" + path);
  std::filesystem::remove(path);
}

TEST(PassedSockets, OfAnotherSortAreRefusedByName) {
  const int fd = listening(AF_INET, false), deaf = listening(AF_INET, false, false);
  const std::string at = address_of_listening(fd);
  EXPECT_EQ(in_process({fd, deaf}, "rpc.server.operator:rpc.server.main",
                       [](PassedSockets& passed) {
                         return taken(passed, "rpc.server.operator", "unix:/x") + "\n" +
                                taken(passed, "rpc.server.main", "0.0.0.0:7070");
                       }),
            "the socket that the service manager passes with this name is " + at +
                ": correct ListenStream= of its unit\n"
                "the socket that the service manager passes with this name does not listen: "
                "correct ListenStream= of its unit");
}

TEST(PassedSockets, AreNotInheritedByPrograms) {
  EXPECT_EQ(in_process({listening(AF_INET, false)}, "a",
                       [](PassedSockets&) {
                         const bool closes = (::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0;
                         const bool waits = (::fcntl(3, F_GETFL) & O_NONBLOCK) == 0;
                         return std::string(closes ? "closed" : "inherited") +
                                (waits ? " blocking" : "") +
                                (std::getenv("LISTEN_FDS") == nullptr ? "" : " and told");
                       }),
            "closed");
}

TEST(PassedSockets, OfAnotherProcessAreNotTaken) {
  EXPECT_EQ(in_process(
                {listening(AF_INET, false)}, "a",
                [](PassedSockets& passed) {
                  return std::to_string(passed.close().size()) +
                         (std::getenv("LISTEN_PID") == nullptr ? "" : " and told");
                },
                "1"),
            "0");
}

}  // namespace
}  // namespace davit::host
