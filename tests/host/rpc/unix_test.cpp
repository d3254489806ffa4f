// The operator's socket: peer credentials, modes, stale and busy sockets.
#include <fcntl.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "rig.hpp"
#include "rpc/peer_user.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

std::string own_name() {
  return getpwuid(geteuid())->pw_name;
}

struct Socket {
  Folder folder;
  Side server{"desired"};
  Socket() {
    for (const auto& [path, role] : {std::pair{"davit.v1.OperatorService/Get", "operator"},
                                     std::pair{"davit.v1.AgentService/Get", "agent"}}) {
      davit::rpc::Method m;
      m.path = path;
      m.role = role;
      const auto r = davit::rpc::Server(server.host()).unary(m, [](Call call, Buffer, Reply reply) {
        reply(call.identity().name + " " + call.identity().role + " " + call.peer());
      });
      EXPECT_TRUE(r.ok());
    }
  }
  std::string path() const { return folder.path("op.sock"); }
  std::string config(const std::string& more = {}) const {
    return "[rpc.server.operator]\nlisten = \"unix:" + path() + "\"\n" + transport_line() + more;
  }
  // One call on a connection of its own.
  Outcome ask(const std::string& method) const {
    Side client("x");
    client.configure("[rpc.client.operator]\nregion = \"r\"\nurl = \"unix:" + path() + "\"");
    return call(client, client.channel("operator"), method, "");
  }
};

TEST(UnixSocket, TrustsTheUserAtTheOtherEnd) {
  Socket s;
  s.server.configure(s.config());
  s.server.listen();
  const Outcome o = s.ask("davit.v1.OperatorService/Get");
  ASSERT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages[0], own_name() + " operator unix:" + own_name());
  EXPECT_EQ(
      s.ask("davit.v1.AgentService/Get").message,
      "operator: user \"" + own_name() + "\" has role operator; davit.v1.AgentService needs agent");
}

TEST(UnixSocket, ManyConnectionsAtOnce) {
  Socket s;
  s.server.configure(s.config());
  s.server.listen();
  std::vector<std::future<void>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(std::async(std::launch::async, [&] {
      for (int k = 0; k < 10; ++k) {
        const Outcome o = s.ask("davit.v1.OperatorService/Get");
        EXPECT_EQ(o.code, Code::ok) << o;
      }
    }));
  }
}

TEST(UnixSocket, HasTheModeThatKeepsOthersOut) {
  Socket s;
  s.server.configure(s.config());
  s.server.listen();
  struct stat st {};
  ASSERT_EQ(stat(s.path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  s.server.stop();
  EXPECT_NE(stat(s.path().c_str(), &st), 0);
}

TEST(UnixSocket, AStaleSocketIsReplacedAndABusyOneIsNot) {
  Socket s;
  const int left = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, s.path().c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(left);  // the file stays, as after kill -9

  s.server.configure(s.config());
  s.server.listen();
  Side second("x");
  second.configure(s.config());
  ASSERT_TRUE(second.try_wired().ok());
  const auto r = second.rpc.listen();
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message, "rpc.server.operator: cannot listen on unix:" + s.path() +
                                   ": address already in use (set another path in test.toml:2)");
  second.stop();
  EXPECT_EQ(s.ask("davit.v1.OperatorService/Get").code, Code::ok);
}

TEST(UnixSocket, AFileThatIsNoSocketIsLeftAlone) {
  Socket s;
  s.folder.write("op.sock", "precious");
  s.server.configure(s.config());
  ASSERT_TRUE(s.server.try_wired().ok());
  EXPECT_NE(s.server.rpc.listen().error().message.find(": there is a file that is not a socket ("),
            std::string::npos);
  std::string content;
  std::ifstream(s.path()) >> content;
  EXPECT_EQ(content, "precious");
}

TEST(UnixSocket, AFolderThatIsNotThereIsNamed) {
  Socket s;
  s.server.configure("[rpc.server.operator]\nlisten = \"unix:/nowhere/op.sock\"");
  ASSERT_TRUE(s.server.try_wired().ok());
  EXPECT_EQ(s.server.rpc.listen().error().message,
            "rpc.server.operator: cannot listen on unix:/nowhere/op.sock: no such file or "
            "directory (set another path "
            "in test.toml:2)");
}

TEST(UnixSocket, UsersAndGroupsMustExist) {
  Socket s;
  s.server.configure(s.config("allow_users = [\"nobody-of-that-name\"]"));
  EXPECT_EQ(
      s.server.try_wired().error().message,
      "test.toml:1: rpc.server.operator: allow_users: there is no user \"nobody-of-that-name\"");
}

TEST(PeerUsers, RootOurselvesAndWhoIsNamed) {
  const auto users = PeerUsers::make({"12345"}, {});
  ASSERT_TRUE(users.ok());
  EXPECT_TRUE(users->allows(0, 0));
  EXPECT_TRUE(users->allows(geteuid(), getegid()));
  EXPECT_TRUE(users->allows(12345, 1));
  EXPECT_FALSE(users->allows(12346, 12345));
  EXPECT_EQ(users->identify(12346, 1)->role(), "");
  EXPECT_EQ(users->identify(12346, 1)->subject(), "user \"uid 12346\"");
  EXPECT_EQ(users->identify(12345, 1)->role(), "operator");
}

TEST(PeerUsers, EveryNumberOfAUserIsTaken) {
  for (const uid_t uid : {999'999'999u, 1'000'000'000u, 1'234'567'890u, 4'294'967'294u}) {
    const auto users = PeerUsers::make({std::to_string(uid)}, {});
    ASSERT_TRUE(users.ok()) << users.error().message;
    EXPECT_TRUE(users->allows(uid, uid));
  }
  // The last number means "no user", and the next ones are larger than any user's.
  for (const char* none : {"4294967295", "4294967296", "18446744073709551617", "-1", "+1", "1x"}) {
    const auto users = PeerUsers::make({none}, {});
    ASSERT_FALSE(users.ok()) << none;
    EXPECT_EQ(users.error().message, "allow_users: there is no user \"" + std::string(none) + "\"");
  }
}

TEST(PeerUsers, TheSocketLetsInWhoeverIsNamed) {
  EXPECT_EQ(PeerUsers::make({}, {})->socket_mode(), 0600u);
  EXPECT_EQ(PeerUsers::make({"0"}, {})->socket_mode(), 0600u);
  EXPECT_EQ(PeerUsers::make({}, "daemon")->socket_mode(), 0660u);
  EXPECT_EQ(PeerUsers::make({"12345"}, {})->socket_mode(), 0666u);
  EXPECT_EQ(PeerUsers::make({"12345"}, "daemon")->socket_mode(), 0666u);
}

TEST(PeerUsers, MembersOfTheGroup) {
  const auto users = PeerUsers::make({}, "daemon");  // gid 1 on every Debian
  ASSERT_TRUE(users.ok()) << users.error().message;
  EXPECT_TRUE(users->allows(54321, users->group()));
  EXPECT_FALSE(users->allows(54321, users->group() + 1));
}

// Connects as another user, in a process of its own: the kernel notes who called connect.
// Async-signal-safe calls only.
int connected_as(uid_t uid, const std::string& path) {
  int pair[2] = {};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  char byte = 'x';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(uid) != 0 || setuid(uid) != 0) _exit(1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) _exit(2);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    _exit(sendmsg(pair[1], &message, 0) == 1 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  int fd = -1;
  if (status == 0 && recvmsg(pair[0], &message, 0) == 1)
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  close(pair[0]);
  close(pair[1]);
  return fd;
}

constexpr uid_t nobody = 65534;

// By a connection that the kernel says is nobody's.
grpc::Status asked_by_nobody(const Socket& s) {
  const int fd = connected_as(nobody, s.path());
  if (fd < 0) return {grpc::StatusCode::UNKNOWN, "not connected"};
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  grpc::GenericStub stub(grpc::CreateInsecureChannelFromFd("nobody", fd));
  grpc::ClientContext context;
  const grpc::ByteBuffer request(nullptr, 0);
  grpc::ByteBuffer answer;
  std::promise<grpc::Status> status;
  stub.UnaryCall(&context, "/davit.v1.OperatorService/Get", {}, &request, &answer,
                 [&](grpc::Status st) { status.set_value(std::move(st)); });
  return status.get_future().get();
}

TEST(UnixSocket, AnotherUserIsRefusedByName) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Socket s;
  s.server.configure(s.config());
  s.server.listen();
  // So that it is the credentials that refuse, and not the modes.
  ASSERT_EQ(chmod(s.path().c_str(), 0666), 0);
  ASSERT_EQ(chmod(s.folder.path("").c_str(), 0755), 0);
  const grpc::Status refused = asked_by_nobody(s);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(refused.error_message(), "user \"" + std::string(getpwuid(nobody)->pw_name) +
                                         "\" may not use unix:" + s.path() +
                                         " (see allow_users and allow_group)");
  // Others go on, and each is who it is.
  EXPECT_EQ(s.ask("davit.v1.OperatorService/Get").code, Code::ok);
}

TEST(UnixSocket, AUserWhoIsNamedGetsIn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Socket s;
  s.server.configure(s.config("allow_users = [\"65534\"]"));
  s.server.listen();
  ASSERT_EQ(chmod(s.folder.path("").c_str(), 0755), 0);
  const grpc::Status served = asked_by_nobody(s);
  EXPECT_TRUE(served.ok()) << served.error_message();
}

}  // namespace
}  // namespace davit::host
