// The plugin as it is loaded, two of them on one simulated cluster, on a clock that stands still
// until it is moved. Between each and the cluster is a line that the test can cut.
#include <gtest/gtest.h>

#include <davit/rights.hpp>

#include "../fakes/requests_only.hpp"
#include "../fakes/stop_running.hpp"
#include "../watcher/fake_rpc.hpp"
#include "lease.hpp"

namespace davit::leader {
namespace {

using namespace std::chrono_literals;
using testing::Instance;
using testing::Loaded;
using testing::TestHost;

const Place place{"kube-system", "davit-eu"};

// A leader neither watches nor discovers.
class Line : public testing::RequestsOnly {
 public:
  enum class State { up, down, hangs };
  Line(TestHost& host, const std::string& name, cluster::Client behind) : behind_(behind) {
    host.add_role(name, DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(this),
                  cluster::Role::vtable<Line>());
  }
  State state = State::up;
  Error down{Code::unavailable, "the line is down"};

  void request(const Op& op, const cluster::Request& q,
               const std::function<void(cluster::Response)>& done) {
    if (state == State::up) return behind_.under(op).request(q, done);
    if (state == State::hangs) return hanging_.push_back(done);
    cluster::Response none;
    none.code = down.code;
    none.message = down.message;
    done(none);
  }
  void end_hanging() {
    cluster::Response none;
    none.code = Code::deadline_exceeded;
    for (const auto& done : std::exchange(hanging_, {})) done(none);
  }

 private:
  cluster::Client behind_;
  std::vector<std::function<void(cluster::Response)>> hanging_;
};

// One process that wants to work.
struct Member {
  Member(TestHost& beside, const davit_plugin* plugin, const std::string& name,
         cluster::Client cluster)
      : line(beside, "line-" + name, cluster),
        host(beside, name,
             {{"cluster", "line-" + name}, {"server", "control"}, {"identity", name}}),
        instance(plugin, host) {}
  ~Member() {
    line.end_hanging();
    stop();
  }
  void start() {
    const auto up = instance.up();
    ASSERT_TRUE(up.ok()) << up.error().message;
    started = true;
    const auto* gate = instance.role<davit_gate>(DAVIT_GATE);
    gate->wait(
        instance.get(),
        [](void* self, uint64_t e) {
          static_cast<Member*>(self)->epoch = Epoch(e);
          static_cast<Member*>(self)->told = true;
        },
        this);
  }
  void stop() {
    if (!std::exchange(started, false)) return;
    EXPECT_TRUE(testing::stop_running(instance, host).ok());
  }
  bool leads() const { return epoch != 0; }

  Line line;
  TestHost host;
  Instance instance;
  bool started = false, told = false;
  Epoch epoch{};
};

class LeaderTest : public ::testing::Test {
 protected:
  LeaderTest()
      : host_("cluster", {}, TestHost::Time::manual),
        rpc_(host_, "davit.v1"),
        memory_(*Loaded::open(CLUSTER_MEMORY)),
        leader_(*Loaded::open(LEADER)),
        cluster_(memory_.plugin(), host_) {
    EXPECT_TRUE(cluster_.up().ok());
    client_ = cluster::Client(cluster_.ref(DAVIT_CLUSTER));
    a_.emplace(host_, leader_.plugin(), "a", client_);
    b_.emplace(host_, leader_.plugin(), "b", client_);
  }
  ~LeaderTest() override {
    a_.reset();
    b_.reset();
    EXPECT_TRUE(testing::stop_running(cluster_, host_).ok());
  }
  // a leads, b stands by.
  void both() {
    a_->start();
    host_.run();
    ASSERT_TRUE(a_->leads());
    b_->start();
    host_.run();
  }
  cluster::Response ask(cluster::Request q) {
    std::optional<cluster::Response> out;
    client_.request(q, [&](const cluster::Response& r) { out = r; });
    host_.run();
    return out.value_or(cluster::Response{});
  }
  Lease lease() {
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = leases();
    q.ns = place.ns;
    q.name = place.name;
    const auto found = parse_lease(ask(q).body);
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : Lease{};
  }

  TestHost host_;
  testing::FakeRpc rpc_;
  Loaded memory_, leader_;
  Instance cluster_;
  cluster::Client client_;
  std::optional<Member> a_, b_;
};

// `davit check --rights` prints it.
TEST_F(LeaderTest, SaysTheRightsOfTheLeaseThatItAsksFor) {
  ASSERT_TRUE(a_->instance.create().ok());
  ASSERT_TRUE(a_->instance.wire().ok());
  const auto* rights = a_->instance.role<davit_rights>(DAVIT_RIGHTS);
  ASSERT_NE(rights, nullptr);
  StringSink document;
  EXPECT_TRUE(checked([&](davit_error* e) {
                return rights->document(a_->instance.get(), document.get(), e);
              }).ok());
  EXPECT_EQ(document.take(), lease_role(place));
}

TEST_F(LeaderTest, OneWorksAndTheOtherStandsByAndBothAreWell) {
  both();
  host_.advance(60s);
  EXPECT_TRUE(a_->leads());
  EXPECT_FALSE(b_->told);
  const Lease found = lease();
  EXPECT_TRUE(found.holder.starts_with("a_")) << found.holder;
  EXPECT_EQ(found.epoch, a_->epoch);
  EXPECT_EQ(found.transitions, 0);
  EXPECT_EQ(a_->host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(a_->host.health_reason(), "leading");
  EXPECT_EQ(b_->host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(b_->host.health_reason(), "standing by: \"" + found.holder + "\" leads");
  EXPECT_TRUE(b_->host.logged("standing by lease=kube-system/davit-eu leader=a_"));
}

TEST_F(LeaderTest, OfTwoThatBeginTogetherOneWins) {
  a_->start();
  b_->start();
  host_.run();
  EXPECT_NE(a_->leads(), b_->leads());
  host_.advance(60s);
  EXPECT_NE(a_->leads(), b_->leads());
}

TEST_F(LeaderTest, TheOtherTakesOverAndNotBeforeTheFirstHasEnded) {
  both();
  host_.advance(30s);
  const auto cut_at = host_.now();
  a_->line.state = Line::State::down;
  while (a_->host.shutdown_reason().empty()) host_.advance(100ms);
  EXPECT_LE(host_.now() - cut_at, 10s + 100ms);
  EXPECT_EQ(a_->host.shutdown_reason(),
            "Lease kube-system/davit-eu is lost: it could not be renewed for 10000 ms");
  EXPECT_LE(a_->host.shutdown_deadline(), cut_at + 15s);
  EXPECT_EQ(a_->host.health(), DAVIT_HEALTH_NOT_SERVING);
  while (!b_->leads()) {
    host_.advance(100ms);
    ASSERT_LE(host_.now() - cut_at, 15s + 2s + 100ms);
  }
  EXPECT_GE(host_.now(), a_->host.shutdown_deadline());
  EXPECT_GT(b_->epoch, a_->epoch);
  EXPECT_EQ(lease().transitions, 1);
  EXPECT_EQ(host_.metric("davit_leader_leading"), 1);
  EXPECT_EQ(host_.metric("davit_leader_transitions"), 1);
}

TEST_F(LeaderTest, RequestsThatHangForEverEndItAsWell) {
  both();
  host_.advance(30s);
  const auto cut_at = host_.now();
  a_->line.state = Line::State::hangs;
  while (a_->host.shutdown_reason().empty()) {
    host_.advance(100ms);
    ASSERT_LE(host_.now() - cut_at, 10s + 100ms);
  }
}

TEST_F(LeaderTest, ShortTroubleIsToldAndForgotten) {
  both();
  host_.advance(30s);
  a_->line.state = Line::State::down;
  host_.advance(3s);
  EXPECT_EQ(a_->host.health(), DAVIT_HEALTH_DEGRADED);
  EXPECT_EQ(a_->host.health_reason(), "Lease kube-system/davit-eu: the line is down");
  a_->line.down = {Code::unauthenticated, "the token is not valid"};
  host_.advance(3s);
  EXPECT_EQ(a_->host.health_reason(), "Lease kube-system/davit-eu: the token is not valid");
  EXPECT_TRUE(a_->host.logged("reason=the token is not valid"));
  a_->line.state = Line::State::up;
  host_.advance(60s);
  EXPECT_EQ(a_->host.health(), DAVIT_HEALTH_SERVING);
  EXPECT_EQ(a_->host.health_reason(), "leading");
  EXPECT_EQ(a_->host.shutdown_reason(), "");
  EXPECT_FALSE(b_->leads());
}

TEST_F(LeaderTest, ACleanStopHandsOverAtTheNextLook) {
  both();
  host_.advance(30s);
  a_->stop();
  EXPECT_EQ(lease().holder, "");
  host_.advance(2s);
  EXPECT_TRUE(b_->leads());
  EXPECT_GT(b_->epoch, a_->epoch);
}

TEST_F(LeaderTest, AStopThatIsLateLeavesTheLeaseToRunOut) {
  both();
  a_->started = false;
  (void)testing::stop_running(a_->instance, a_->host, 0ns);
  host_.run();
  EXPECT_TRUE(lease().holder.starts_with("a_"));
  host_.advance(14s);
  EXPECT_FALSE(b_->leads());
  host_.advance(3s);
  EXPECT_TRUE(b_->leads());
}

TEST_F(LeaderTest, WhoStopsWithoutHavingLedSaysSoAndLeavesTheLease) {
  both();
  b_->stop();
  EXPECT_TRUE(b_->told);
  EXPECT_EQ(b_->epoch, Epoch(0));
  EXPECT_TRUE(lease().holder.starts_with("a_"));
}

TEST_F(LeaderTest, EndsAtOnceWhenItsLeaseIsTaken) {
  both();
  Lease other = lease();
  other.holder = "somebody";
  EXPECT_EQ(ask(write_request(place, other, true, 0)).code, Code::ok);
  host_.advance(5s);
  EXPECT_EQ(a_->host.shutdown_reason(),
            "Lease kube-system/davit-eu is lost: \"somebody\" holds it");
  EXPECT_LE(a_->host.shutdown_deadline(), host_.now());
  a_->stop();
  EXPECT_EQ(lease().holder, "somebody") << "it is not its own to give back";
}

TEST_F(LeaderTest, RefusesTimesThatDoNotFitAndNamesThatAreNone) {
  TestHost host(host_, "c",
                {{"cluster", "cluster"},
                 {"server", "control"},
                 {"renew_deadline_ms", 15000},
                 {"retry_ms", 20000},
                 {"lease", "A b"}});
  Instance instance(leader_.plugin(), host);
  const auto made = instance.create();
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("renew_deadline_ms: must be below lease_duration_ms"),
            std::string::npos)
      << made.error().message;
  EXPECT_NE(made.error().message.find("retry_ms: must be below renew_deadline_ms"),
            std::string::npos);
  EXPECT_NE(made.error().message.find("lease: must be a DNS name"), std::string::npos);
}

// A controller that serves no region, such as that of Clusters.
TEST_F(LeaderTest, NeedsNoRegionWhenTheLeaseHasAName) {
  TestHost nameless(host_, "c", {{"cluster", "cluster"}});
  Instance without(leader_.plugin(), nameless);
  const auto made = without.create();
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("set lease"), std::string::npos) << made.error().message;

  TestHost named(host_, "d", {{"cluster", "line-a"}, {"lease", "davit-clusters"}});
  Instance with(leader_.plugin(), named);
  ASSERT_TRUE(with.up().ok());
  host_.advance(5s);
  EXPECT_EQ(ask({DAVIT_VERB_GET, leases(), "kube-system", "davit-clusters", "", {}, {}, ""}).code,
            Code::ok);
  EXPECT_TRUE(testing::stop_running(with, named).ok());
}

}  // namespace
}  // namespace davit::leader
