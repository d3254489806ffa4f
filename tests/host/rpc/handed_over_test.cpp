// The connections on a Unix socket that gRPC has: each is one user's, and its name no other's soon.
#include "rpc/grpc/handed_over.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <set>

namespace davit::host {
namespace {

class HandedOverTest : public testing::Test {
 protected:
  ~HandedOverTest() override {
    for (const int fd : others_) close(fd);
  }
  // Hands over a connection of this user, as GrpcServer does. Returns gRPC's descriptor.
  int enter(const std::string& user) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    others_.push_back(ends[1]);
    AcceptedConnection incoming;
    incoming.fd = Descriptor(ends[0]);
    incoming.address = "unix:uid of " + user;
    incoming.user = std::make_shared<const Identity>("user \"" + user + "\"", user, "operator",
                                                     std::vector<std::string>{"*"});
    auto added = handed_over_.add(std::move(incoming.fd), incoming);
    EXPECT_EQ(added.before, "");
    return added.fd;
  }
  // As gRPC names it.
  static std::string name(int fd) { return "fd:" + std::to_string(fd); }
  std::string user_of(int fd) const {
    const auto user = handed_over_.user(name(fd));
    return user ? user->name() : "nobody";
  }

  HandedOver handed_over_;
  std::vector<int> others_;  // the callers' ends
};

TEST_F(HandedOverTest, ALateCallIsNeverTakenForOneOfTheNextUser) {
  const int one = enter("nobody");
  close(one);  // gRPC has lost the connection; a call of it may still come
  const int next = enter("root");
  EXPECT_EQ(user_of(next), "root");
  EXPECT_EQ(user_of(one), "nobody");
  EXPECT_EQ(handed_over_.sweep(), std::vector<std::string>{"unix:uid of nobody"});
  EXPECT_EQ(handed_over_.user(name(one)), nullptr) << "nobody's any more";
  close(next);
}

TEST_F(HandedOverTest, ManyConnectionsOneAfterTheOtherHaveManyNames) {
  std::set<int> names;
  for (int n = 0; n < 200; ++n) {
    const int fd = enter("root");
    EXPECT_TRUE(names.insert(fd).second) << fd;
    close(fd);
    handed_over_.sweep();
  }
}

TEST_F(HandedOverTest, WhatIsCutIsTheConnectionAndNotItsSuccessor) {
  const int one = enter("nobody");
  close(one);
  const int next = enter("root");
  handed_over_.cut(name(one));
  char byte = 0;
  EXPECT_EQ(recv(others_.back(), &byte, 1, MSG_DONTWAIT), -1) << "root's is open";
  handed_over_.cut(name(next));
  EXPECT_EQ(recv(others_.back(), &byte, 1, 0), 0);
  close(next);
}

TEST_F(HandedOverTest, ANumberIsUsedAgainOnlyAfterAllOthers) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::deque<int> lately;
  for (int n = 0; n < 400; ++n) {
    const int fd = enter("root");
    EXPECT_EQ(std::count(lately.begin(), lately.end(), fd), 0) << fd << " in round " << n;
    lately.push_back(fd);
    if (lately.size() > 100) lately.pop_front();
    close(fd);
    close(others_.back());
    others_.pop_back();
    handed_over_.sweep();
  }
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace davit::host
