// Unary calls over real gRPC.
#include "../port.hpp"
#include "rig.hpp"

namespace davit::host {
namespace {

using davit::rpc::Call;
using Reply = davit::rpc::Server::Reply;

void echo(Call, Buffer request, Reply reply) {
  reply(std::string(request.view()));
}

TEST(Unary, AnswersWithWhatThePluginSays) {
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "hello");
  EXPECT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages, std::vector<std::string>{"hello"});
}

TEST(Unary, CarriesEmptyAndLargeMessages) {
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start();
  for (const size_t size : {0u, 1u, 100u, 5'000u, 3'000'000u}) {
    std::string text(size, 'x');
    for (size_t i = 0; i < size; i += 97) text[i] = static_cast<char>(i);
    const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", text);
    ASSERT_EQ(o.messages.size(), 1u) << o;
    EXPECT_TRUE(o.messages[0] == text) << size;
  }
}

TEST(Unary, TellsThePluginWhoCallsAndWithWhat) {
  Rig rig;
  rig.serve_unary("t.v1.S/Who", "agent", [](Call call, Buffer, Reply reply) {
    const auto who = call.identity();
    const auto region = davit::rpc::authorized_region(call);
    reply(who.name + " " + who.role + " " + (region.ok() ? *region : region.error().message) + " " +
          call.metadata("x-krane-platform") + " " + call.metadata("extra") + " [" +
          call.metadata("authorization") + "] " +
          (call.peer().rfind("ipv4:127.0.0.1", 0) == 0 ? "local" : call.peer()));
  });
  rig.start("", "platform = \"aws\"");
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Who", "", {{"extra", "1"}});
  ASSERT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages[0], "edge agent us-east-1 aws 1 [] local");
}

TEST(Unary, AHeaderThatIsStatedTwiceIsOneList) {
  Rig rig;
  rig.serve_unary("t.v1.S/Region", "agent", [](Call call, Buffer, Reply reply) {
    const auto region = davit::rpc::authorized_region(call);
    reply(call.metadata("extra") + "; " + (region.ok() ? *region : region.error().message));
  });
  rig.start();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Region", "",
                         {{"extra", "1"}, {"x-krane-region", "us-east-1"}, {"extra", "2"}});
  ASSERT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages[0],
            "1, 2; region \"us-east-1, us-east-1\" is not one that token \"edge\" names");
}

TEST(Unary, OfABinaryHeaderThatIsStatedTwiceTheFirstCounts) {
  Rig rig;
  rig.serve_unary("t.v1.S/Extra", "agent", [](Call call, Buffer, Reply reply) {
    reply(call.metadata("extra-bin") + ";" + call.metadata("other"));
  });
  rig.start();
  const std::string bytes("\0, \xff", 4);
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Extra", "",
                         {{"extra-bin", bytes}, {"other", "1"}, {"extra-bin", "2"}});
  ASSERT_EQ(o.code, Code::ok) << o;
  EXPECT_EQ(o.messages[0], bytes + ";1");
}

TEST(Unary, RefusesARegionThatTheTokenDoesNotName) {
  Rig rig;
  rig.serve_unary("t.v1.S/Region", "agent", [](Call call, Buffer, Reply reply) {
    const auto region = davit::rpc::authorized_region(call);
    if (region.ok()) return reply(*region);
    reply(region.error());
  });
  rig.start();
  const auto other = rig.another("region = \"mars\"\nurl = \"http://" + rig.address() +
                                 "\"\ntoken_file = \"" + rig.folder.path("agent.token") + "\"");
  const auto channel = other->channel("control");
  const Outcome o = call(*other, channel, "t.v1.S/Region", "");
  EXPECT_EQ(o.code, Code::permission_denied);
  EXPECT_EQ(o.message, "control: region \"mars\" is not one that token \"edge\" names");
}

TEST(Unary, CarriesErrorsWithTheChannelsName) {
  Rig rig;
  rig.serve_unary("t.v1.S/Fail", "agent", [](Call, Buffer, Reply reply) {
    reply(Error{Code::not_found, "no such thing: \"\xc3\xa9\"\n", "id"});
  });
  rig.start();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Fail", "");
  EXPECT_EQ(o.code, Code::not_found);
  EXPECT_EQ(o.message, "control: id: no such thing: \"\xc3\xa9\"\n");
  EXPECT_TRUE(o.messages.empty());
}

TEST(Unary, TheSdksShortcutEndsWithItsOneAnswer) {
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start();
  std::promise<Result<std::string>> promise;
  const Strand strand = rig.client.host().strand();
  strand.post([&] {
    rig.channel.unary("t.v1.S/Echo", "hi", strand,
                      [&](Result<std::string> r) { promise.set_value(std::move(r)); });
  });
  const auto r = promise.get_future().get();
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(*r, "hi");
}

TEST(Unary, ManyAtOnceAllComeBack) {
  constexpr int calls = 2'000;
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start("streams_max = 5000");
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0, good = 0;
  std::string wrong;
  for (int i = 0; i < calls; ++i) {
    const Strand strand = rig.client.host().strand();
    strand.post([&, i, strand] {
      rig.channel.unary("t.v1.S/Echo", std::to_string(i), strand, [&, i](Result<std::string> r) {
        const std::lock_guard lock(mutex);
        ++done;
        if (r.ok() && *r == std::to_string(i)) {
          ++good;
        } else {
          wrong = r.ok() ? *r : r.error().message;
        }
        changed.notify_one();
      });
    });
  }
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return done == calls; }))
      << done;
  EXPECT_EQ(good, calls) << wrong;
}

TEST(Unary, ADeadlineEndsACallThatIsNotAnswered) {
  Rig rig;
  std::promise<void> cancelled;
  rig.serve_unary("t.v1.S/Hang", "agent",
                  [&](Call, Buffer, Reply) {});  // never replies; on_cancel finishes
  rig.start();
  const auto deadline = (rig.client.host().now() + std::chrono::milliseconds(100)).count();
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Hang", "", {}, deadline);
  EXPECT_EQ(o.code, Code::deadline_exceeded) << o;
  EXPECT_EQ(o.message.rfind("control: ", 0), 0u);
}

TEST(Unary, ARequestAboveTheMethodsLimitIsRefusedWithBothSizes) {
  Rig rig;
  std::atomic<int> worked{0};
  rig.serve_unary(
      "t.v1.S/Small", "agent",
      [&](Call, Buffer, Reply reply) {
        ++worked;
        reply(std::string());
      },
      1'000);
  rig.start();
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Small", std::string(1'000, 'x')).code, Code::ok);
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Small", std::string(1'001, 'x'));
  EXPECT_EQ(o.code, Code::resource_exhausted);
  EXPECT_EQ(
      o.message,
      "control: request of 1001 bytes is larger than the limit of 1000 bytes of t.v1.S/Small");
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Small", std::string(20'000'000, 'x')).code,
            Code::resource_exhausted);
  EXPECT_EQ(worked, 1);
}

TEST(Unary, HeadersThatCannotBeSentAreLeftOut) {
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start();
  const Outcome o =
      call(rig.client, rig.channel, "t.v1.S/Echo", "x",
           {{"Upper Case", "1"}, {"good", "two\nlines"}, {"grpc-status", "0"}, {"", ""}});
  EXPECT_EQ(o.code, Code::ok) << o;
}

TEST(Unary, AServerThatIsNotThereIsUnavailable) {
  Rig rig;
  rig.start("", "url = \"http://127.0.0.1:1\"");
  const Outcome o = call(rig.client, rig.channel, "t.v1.S/Echo", "");
  EXPECT_EQ(o.code, Code::unavailable);
  EXPECT_EQ(o.message.rfind("control: ", 0), 0u) << o.message;
  EXPECT_NE(o.message.find("127.0.0.1:1"), std::string::npos) << o.message;
}

TEST(Unary, TheChannelConnectsAgainWhenTheServerIsBack) {
  Rig rig;
  rig.serve_unary("t.v1.S/Echo", "agent", &echo);
  rig.start("", "reconnect_backoff_max_ms = 100");
  ASSERT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "1").code, Code::ok);
  const std::string address = rig.address();
  rig.server.stop();
  const test::Port kept(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  EXPECT_EQ(call(rig.client, rig.channel, "t.v1.S/Echo", "2").code, Code::unavailable);

  Side again("streamer");
  again.configure("[rpc.server.main]\nlisten = \"" + address + "\"\n" + transport_line() +
                  "[[rpc.server.main.token]]\nname = \"edge\"\nregions = [\"*\"]\nfile = \"" +
                  rig.folder.path("agent.token") + "\"");
  davit::rpc::Method m;
  m.path = "t.v1.S/Echo";
  m.role = "agent";
  ASSERT_TRUE(davit::rpc::Server(again.host()).unary(m, &echo).ok());
  again.listen();
  EXPECT_TRUE(eventually(
      [&] { return call(rig.client, rig.channel, "t.v1.S/Echo", "3").code == Code::ok; }));
}

}  // namespace
}  // namespace davit::host
