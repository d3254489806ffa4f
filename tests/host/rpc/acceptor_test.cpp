// What comes before a transport: connections on a Unix socket, and who is at their other end.
#include "rpc/acceptor.hpp"

#include <pwd.h>

#include "raw.hpp"

namespace davit::host {
namespace {

// The acceptor of a listener, with a transport that the test plays.
struct PlayedAcceptor {
  Folder folder;
  Side side{"s"};
  MethodRegistry methods;
  std::mutex mutex;
  std::vector<AcceptedConnection> visitors;
  Acceptor acceptor{side.core, settings(folder.path("op.sock")), methods};

  static ServerSettings settings(const std::string& path) {
    ServerSettings s;
    s.name = "operator";
    s.listen = "unix:" + path;
    s.connections_max = s.connections_per_address_max = 10;
    return s;
  }
  void start(std::function<void()> first = {}) {
    ASSERT_TRUE(acceptor.check().ok());
    ASSERT_TRUE(acceptor.bind().ok());
    ASSERT_TRUE(acceptor
                    .start([this, first = std::move(first)](AcceptedConnection v) {
                      if (first) first();
                      const std::lock_guard lock(mutex);
                      visitors.push_back(std::move(v));
                    })
                    .ok());
  }
  size_t size() {
    const std::lock_guard lock(mutex);
    return visitors.size();
  }
};

TEST(Acceptor, AConnectionOfAUnixSocketIsNamedAfterItsUser) {
  PlayedAcceptor played;
  played.start();
  const Raw one(played.acceptor.address()), other(played.acceptor.address());
  ASSERT_TRUE(eventually([&] { return played.size() == 2; }));
  played.acceptor.stop();
  const std::string user = "unix:" + std::string(getpwuid(geteuid())->pw_name);
  for (const AcceptedConnection& v : played.visitors) {
    EXPECT_EQ(v.peer, user);
    EXPECT_TRUE(v.connection.starts_with(user + "#")) << v.connection;
    EXPECT_EQ(v.address, "unix:uid " + std::to_string(geteuid()));
    EXPECT_EQ(v.user->role(), "operator");
  }
  EXPECT_NE(played.visitors[0].connection, played.visitors[1].connection);
}

TEST(Acceptor, ConnectionsAreAcceptedWhileAUserIsLookedUp) {
  PlayedAcceptor played;
  std::promise<void> found;
  // What comes after the look-up runs on the same thread.
  played.start([wait = found.get_future().share()] { wait.wait(); });
  const Raw one(played.acceptor.address()), other(played.acceptor.address());
  EXPECT_TRUE(eventually([&] { return played.acceptor.connection_limits().size() == 2; }));
  EXPECT_EQ(played.size(), 0u);
  found.set_value();
  played.acceptor.stop();
  EXPECT_EQ(played.size(), 2u) << "nobody is lost at the stop";
}

}  // namespace
}  // namespace davit::host
