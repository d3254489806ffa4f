// Who gets in, and what becomes of those who do not: limits of connections, descriptors that run
// out, what is warned of, and what of it can be seen.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <set>

#include "limited.hpp"
#include "rpc/listener.hpp"
#include "stub.hpp"

namespace davit::host {
namespace {

bool logged(const Side& side, std::initializer_list<const char*> words) {
  for (const auto& line : side.lines()) {
    if (std::all_of(words.begin(), words.end(),
                    [&](const char* w) { return line.find(w) != std::string::npos; }))
      return true;
  }
  return false;
}

bool limit_descriptors(rlim_t n) {
  const rlimit limit{n, n};
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int connected(uint16_t port, int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd >= 0) static_cast<void>(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  return fd;
}

// Opens many connections at once and closes them, again and again; the last of them only when it
// is told to.
[[noreturn]] void flood(int ask, int at_once) {
  uint16_t port = 0;
  if (::read(ask, &port, sizeof port) != sizeof port) _exit(1);
  constexpr int rounds = 3;
  for (int round = 1; round <= rounds; ++round) {
    std::vector<int> fds;
    for (int i = 0; i < at_once; ++i) fds.push_back(connected(port));
    char enough = 0;
    if (round == rounds && ::read(ask, &enough, sizeof enough) != sizeof enough) _exit(1);
    for (const int fd : fds) close(fd);
  }
  _exit(0);
}

bool answers(Limited& rig) {
  return eventually(
      [&] { return call(rig.client, rig.channel, "t.v1.S/Echo", "x").code == Code::ok; });
}

// In a process of its own. The flood comes from another, which has descriptors enough.
int outlive_a_flood(rlim_t descriptors, int at_once) {
  int pair[2] = {};
  if (pipe(pair) != 0) return 1;
  const pid_t attacker = fork();
  if (attacker == 0) flood(pair[0], at_once);
  if (!limit_descriptors(descriptors)) return 2;
  Limited rig;
  rig.start();
  if (!answers(rig)) return 3;
  const std::string address = rig.address();
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  if (::write(pair[1], &port, sizeof port) != sizeof port) return 4;
  // Whichever limit was met first.
  const bool met = eventually([&] {
    return logged(rig.server, {"connections are refused"}) ||
           logged(rig.server, {"no file descriptor is left"});
  });
  if (const char enough = 1; ::write(pair[1], &enough, sizeof enough) != sizeof enough) return 5;
  int status = 0;
  waitpid(attacker, &status, 0);
  if (status != 0) return 5;
  if (!logged(rig.server, {"there are fewer file descriptors than connections_max"})) return 6;
  if (!met) return 7;
  Stub fresh(address, "agent-secret");  // by a connection of its own
  if (!eventually([&] { return fresh.unary("t.v1.S/Echo", "x").status.ok(); })) return 8;
  return answers(rig) ? 0 : 9;
}

TEST(FrontDoorDeathTest, ServesAfterMoreConnectionsThanThereAreDescriptors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(outlive_a_flood(128, 250)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(_exit(outlive_a_flood(1'024, 1'000)), testing::ExitedWithCode(0), "");
}

int wait_without_descriptors() {
  using Clock = std::chrono::steady_clock;
  if (!limit_descriptors(64)) return 1;
  Listener listener;
  const auto at = listener.bind_tcp("127.0.0.1:0");
  if (!at.ok()) return 2;
  std::atomic<int> accepted{0}, starved{0};
  if (!listener.start([&](Descriptor) { ++accepted; }, [&](int) { ++starved; }).ok()) return 3;
  const auto port = static_cast<uint16_t>(std::stoi(at->substr(at->rfind(':') + 1)));
  const Descriptor first(connected(port));
  if (!eventually([&] { return accepted == 1; })) return 4;
  Descriptor spare(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<Descriptor> all;
  for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) all.emplace_back(fd);
  spare.reset();
  const auto began = Clock::now();
  const Descriptor client(connected(port));  // takes the last one
  if (!eventually([&] { return starved >= 4; })) return 5;
  // It asks ten times a second, and not as fast as it can.
  if (Clock::now() - began < std::chrono::milliseconds(250)) return 6;
  if (accepted != 1) return 7;
  all.clear();
  return eventually([&] { return accepted == 2; }) ? 0 : 8;
}

TEST(FrontDoorDeathTest, AConnectionWaitsForADescriptorAndNothingSpins) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(wait_without_descriptors()), testing::ExitedWithCode(0), "");
}

// `poll` fails as well where a process may have fewer descriptors than it waits for.
int accept_after_a_poll_that_failed() {
  Listener listener;
  const auto at = listener.bind_tcp("127.0.0.1:0");
  if (!at.ok()) return 1;
  std::atomic<int> accepted{0}, failed{0};
  const auto starved = [&](int error) { failed += error == EINVAL ? 1 : 0; };
  if (!listener.start([&](Descriptor) { ++accepted; }, starved).ok()) return 2;
  rlimit before{};
  if (getrlimit(RLIMIT_NOFILE, &before) != 0) return 3;
  const auto port = static_cast<uint16_t>(std::stoi(at->substr(at->rfind(':') + 1)));
  const Descriptor first(connected(port));
  if (!eventually([&] { return accepted == 1; })) return 4;
  const Descriptor second(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit low{1, before.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &low) != 0) return 5;
  connected(port, second.get());
  if (!eventually([&] { return failed >= 2; })) return 6;
  if (setrlimit(RLIMIT_NOFILE, &before) != 0) return 7;
  return eventually([&] { return accepted == 2; }) ? 0 : 8;
}

TEST(FrontDoorDeathTest, AListenerGoesOnAfterAWaitThatFailed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(accept_after_a_poll_that_failed()), testing::ExitedWithCode(0), "");
}

TEST(FrontDoor, OneAddressHasSoManyConnections) {
  Limited rig;
  rig.start("connections_max = 10\nconnections_per_address_max = 2");
  auto first = std::make_unique<Raw>(rig.address());
  first->greet();
  Raw second(rig.address()), third(rig.address());
  EXPECT_TRUE(third.is_closed());
  EXPECT_TRUE(logged(rig.server, {"connections are refused", "connections_per_address_max",
                                  "most=2", "address=127.0.0.1"}));
  first.reset();
  EXPECT_TRUE(answers(rig)) << "its place is another's";
}

TEST(FrontDoor, AFullListenerSaysSoAndIsReadyAllTheSame) {
  Limited rig;
  rig.start("connections_max = 1\nconnections_per_address_max = 1");
  rig.expect_well();
  Raw other(rig.address());
  EXPECT_TRUE(other.is_closed());
  const auto entries = rig.server.health.all();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].instance, "rpc.server.main");
  EXPECT_TRUE(entries[0].ready());
  EXPECT_EQ(entries[0].reason, "there are connections_max = 1 connections");
  rig.expect_well();
  const std::string shown = rig.server.metrics.expose();
  EXPECT_NE(shown.find("davit_rpc_connections{server=\"main\"} 1\n"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("davit_rpc_connections_refused_total{server=\"main\"} 0\n"),
            std::string::npos);
}

TEST(FrontDoor, AConnectionThatGoesLeavesItsPlace) {
  Limited rig;
  rig.start();
  {
    Raw raw(rig.address());
    raw.greet();
  }
  EXPECT_TRUE(eventually([&] {
    return rig.server.metrics.expose().find("davit_rpc_connections{server=\"main\"} 0\n") !=
           std::string::npos;
  }));
}

TEST(FrontDoor, WatchesOfStrangersAreLimited) {
  Limited rig;
  rig.start("health_watches_max = 3\nhealth_watches_per_address_max = 2");
  Stub stranger(rig.address());
  const auto watch = [&] {
    auto talk = std::make_unique<Stub::Talk>(stranger, "grpc.health.v1.Health/Watch");
    talk->ask("");
    return talk;
  };
  auto first = watch(), second = watch();
  EXPECT_TRUE(first->read());
  EXPECT_TRUE(second->read());
  const auto refused = watch()->finish();
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.error_message(), "more than 2 watches of health at once from one address");
  first.reset();
  EXPECT_TRUE(eventually([&] { return watch()->read().has_value(); }));
}

TEST(FrontDoor, WhatIsOpenIsWarnedOf) {
  Folder folder;
  Side server("s");
  server.configure("[rpc.server.main]\nlisten = \"0.0.0.0:0\"\n" + transport_line() +
                   "[[rpc.server.main.token]]\nname = \"all\"\nregions = [\"*\"]\nfile = \"" +
                   folder.write("t", "short") + "\"");
  server.listen();
  EXPECT_TRUE(logged(server, {"warn", "without TLS can be reached from other machines"}));
  EXPECT_TRUE(logged(server, {"warn", "a token is for every region", "token=all"}));
  EXPECT_TRUE(logged(server, {"warn", "a token of 5 characters can be guessed"}));
}

TEST(FrontDoor, WhatIsClosedIsNot) {
  Limited rig;
  rig.folder.write("agent.token", std::string(24, 'a'));
  rig.folder.write("operator.token", std::string(24, 'o'));
  for (const char* name : {"agent.token", "operator.token"})
    std::filesystem::permissions(rig.folder.path(name), std::filesystem::perms::owner_read);
  rig.start();
  rig.expect_well();
  for (const char* warning : {"TLS", "every region", "token file"}) {
    EXPECT_FALSE(logged(rig.server, {warning})) << warning;
    EXPECT_FALSE(logged(rig.client, {warning})) << warning;
  }
}

TEST(FrontDoor, CallsAreCountedByMethodAndCode) {
  Limited rig;
  rig.start();
  rig.expect_well();
  rig.expect_well();
  Stub stub(rig.address(), "agent-secret"), nobody(rig.address());
  for (int i = 0; i < 3; ++i) stub.unary("no.such/Method" + std::to_string(i), "");
  nobody.unary("t.v1.S/Echo", "");
  Stub::Talk talk(stub, "t.v1.S/Stay");
  talk.ask("");
  EXPECT_TRUE(talk.read());
  const std::string shown = rig.server.metrics.expose();
  const auto has = [&](const std::string& line) {
    EXPECT_NE(shown.find(line + "\n"), std::string::npos) << line << "\n" << shown;
  };
  const std::string echo = "method=\"t.v1.S/Echo\",server=\"main\"";
  has("davit_rpc_calls_total{code=\"ok\"," + echo + "} 2");
  has("davit_rpc_calls_total{code=\"unauthenticated\"," + echo + "} 1");
  has("davit_rpc_seconds_count{" + echo + "} 2");
  has("davit_rpc_calls_total{code=\"unimplemented\",method=\"other\",server=\"main\"} 3");
  has("davit_rpc_calls_open{method=\"t.v1.S/Stay\",server=\"main\"} 1");
  EXPECT_EQ(shown.find("no.such"), std::string::npos);
}

TEST(ConnectFrontDoor, ConnectionsLiveOnSeveralThreads) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  Rig rig;
  davit::rpc::Method m;
  m.path = "t.v1.S/Where";
  m.role = "agent";
  m.server_streams = true;
  ASSERT_TRUE(rig.serving()
                  .serve(m,
                         [&](davit::rpc::Call c) {
                           const std::lock_guard lock(mutex);
                           threads.insert(std::this_thread::get_id());
                           c.finish({Code::ok, {}});
                         })
                  .ok());
  rig.start();
  for (int i = 0; i < 4; ++i) {
    const auto side = rig.another("region = \"us-east-1\"\nurl = \"http://" + rig.address() +
                                  "\"\ntoken_file = \"" + rig.folder.path("agent.token") + "\"");
    call(*side, side->channel("control"), "t.v1.S/Where", "");
    call(rig.client, rig.channel, "t.v1.S/Where", "");  // its connection stays
  }
  const std::lock_guard lock(mutex);
  EXPECT_GE(threads.size(), 2u);
}

TEST(ConnectFrontDoor, AStrangerThatUsesNothingIsClosedAndACallerStays) {
  Limited rig;
  rig.start("request_timeout_ms = 1000");
  Raw caller(rig.address());
  caller.greet();
  caller.send(begin_call(1, "t.v1.S/Echo", "agent-secret") +
              Raw::frame(Raw::data, Raw::end_stream, 1, message(0, 0)));
  EXPECT_NE(caller.until(std::string("\1\4\0\0\0\1", 6)), "");
  Raw stranger(rig.address());
  stranger.greet();
  EXPECT_TRUE(stranger.is_closed());
  caller.send(begin_call(3, "t.v1.S/Echo", "agent-secret") +
              Raw::frame(Raw::data, Raw::end_stream, 3, message(0, 0)));
  const std::string head("\1\4\0\0\0\3", 6);
  EXPECT_NE(caller.until(head).find(head), std::string::npos) << "the connection goes on";
}

// A call may be on its way while its connection is given up for having none.
TEST(ConnectFrontDoor, ACallThatCrossesTheWordOfLeavingIsServed) {
  Limited rig;
  rig.start("request_timeout_ms = 1000");
  Raw caller(rig.address());
  caller.greet();
  const std::string notice("\0\0\x8\7\0\0\0\0\0\x7f\xff\xff\xff\0\0\0\0", 17);
  EXPECT_NE(caller.until(notice).find(notice), std::string::npos);
  const std::string ping("\6\0\0\0\0\0goaway\0\0", 14);
  EXPECT_NE(caller.until(ping).find(ping), std::string::npos);
  caller.send(begin_call(1, "t.v1.S/Echo", "agent-secret") +
              Raw::frame(Raw::data, Raw::end_stream, 1, message(0, 0)) +
              Raw::frame(Raw::ping, Raw::acknowledged, 0, std::string_view("goaway\0\0", 8)));
  const std::string head("\1\4\0\0\0\1", 6);
  EXPECT_NE(caller.until(head).find(head), std::string::npos);
  const std::string last("\7\0\0\0\0\0\0\0\0\1\0\0\0\0", 14);
  EXPECT_NE(caller.until(last).find(last), std::string::npos);
  EXPECT_TRUE(caller.is_closed());
}

// How many of them leave depends on the moment; that the call is answered shows that one did.
TEST(ConnectFrontDoor, WhoOnlyHoldsAPlaceMakesRoomForACaller) {
  for (const bool greets : {false, true}) {
    Limited rig;
    rig.start("request_timeout_ms = 600000\nconnections_max = 4\nconnections_per_address_max = 4");
    std::vector<std::unique_ptr<Raw>> strangers;
    for (int i = 0; i < 4; ++i) {
      strangers.push_back(std::make_unique<Raw>(rig.address()));
      if (greets) strangers.back()->greet();
    }
    EXPECT_TRUE(answers(rig)) << "greets: " << greets;
  }
}

TEST(Revoked, ATokensStreamsEndWithIt) {
  for (const bool replaced : {false, true}) {
    Limited rig;
    rig.start();
    Stub stub(rig.address(), "agent-secret");
    Stub::Talk talk(stub, "t.v1.S/Stay");
    talk.ask("");
    EXPECT_EQ(talk.read(), "hello");
    if (replaced) {
      rig.folder.write("agent.token", "another-secret");
    } else {
      std::filesystem::remove(rig.folder.path("agent.token"));
    }
    EXPECT_EQ(talk.read(), std::nullopt);
    const auto end = talk.finish();
    EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(end.error_message(), "the token was taken away or replaced");
  }
}

TEST(Refusal, NoTextOfACallersMakesALineOfItsOwn) {
  Limited rig;
  rig.start();
  Stub stub(rig.address(), "agent-secret");
  for (int i = 0; i < 50; ++i)
    stub.unary("no.such/Method" + std::to_string(i) + std::string(5'000, 'x'), "");
  int lines = 0;
  for (const auto& line : rig.server.lines()) {
    lines += line.find("call refused") != std::string::npos ? 1 : 0;
    EXPECT_LT(line.size(), 1'000u);
  }
  EXPECT_EQ(lines, 1);
}

TEST(Refusal, OfARegionByItsMethodIsLogged) {
  Limited rig;
  rig.serve_unary("t.v1.S/Mine", "agent",
                  [](davit::rpc::Call c, Buffer, davit::rpc::Server::Reply reply) {
                    const auto region = davit::rpc::authorized_region(c);
                    if (!region.ok()) return reply(region.error());
                    reply(std::string("ok"));
                  });
  rig.start();
  for (const char* region : {"foreign", "foreign-2"}) {
    const auto side =
        rig.another(std::string("region = \"") + region + "\"\nurl = \"http://" + rig.address() +
                    "\"\ntoken_file = \"" + rig.folder.path("agent.token") + "\"");
    EXPECT_EQ(call(*side, side->channel("control"), "t.v1.S/Mine", "").code,
              Code::permission_denied);
  }
  EXPECT_TRUE(logged(rig.server, {"warn", "call refused", "t.v1.S/Mine", "foreign"}));
  EXPECT_FALSE(logged(rig.server, {"call refused", "foreign-2"})) << "one address, one line";
}

}  // namespace
}  // namespace davit::host
