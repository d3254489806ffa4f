// Two rounds of the purge at once.
#include "maintenance.hpp"

#include <gtest/gtest.h>

#include "fakes/empty_storage.hpp"

namespace davit::desired {
namespace {

// What the test does in the middle of a round.
class MiddleOfARound : public testing::EmptyStorage {
 public:
  std::function<void()> middle = [] {};
  Result<bool> agents(const Op&, const AgentRead&, const storage::VisitProgress&) {
    middle();
    return false;
  }
};

TEST(Maintenance, WhoWaitsForARoundWaitsAsLongAsItWants) {
  testing::TestHost host("plugin", {}, testing::TestHost::Time::manual);
  MiddleOfARound store;
  const auto client = testing::client_of(host, store);
  Outstanding outstanding;
  Maintenance maintenance(host.host(), client, {}, outstanding, {});
  const auto round_of = [&](const Operation& caller) {
    const auto r = maintenance.round({true, {}, {}}, client.under(caller));
    return r.ok() ? Code::ok : r.error().code;
  };
  Code late = Code::ok, gone = Code::ok;
  bool in_it = false;
  store.middle = [&] {
    if (std::exchange(in_it, true)) return;
    late = round_of(Operation(host.now().count()));
    const Operation cancelled;
    cancelled.cancel();
    gone = round_of(cancelled);
  };
  EXPECT_EQ(round_of(Operation()), Code::ok);
  EXPECT_EQ(late, Code::deadline_exceeded) << "the first round may never end";
  EXPECT_EQ(gone, Code::cancelled);
  EXPECT_EQ(round_of(Operation()), Code::ok) << "and another one is let in again";
}

}  // namespace
}  // namespace davit::desired
