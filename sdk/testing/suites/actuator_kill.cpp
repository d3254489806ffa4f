// T5: a process that builds, changes and removes a cluster is killed (SIGKILL) again and again, at
// random moments. The next one finds what is there and goes on: one cluster, never two, and none
// when it is removed.
//
// The process is this tool again: `--child actuator-builder DIRECTORY NS NAME UID`. It writes a
// line before each call (C), and an error (E).
#include <algorithm>
#include <random>

#include "actuator.hpp"
#include "killed.hpp"

namespace davit::conformance {
namespace {

using std::chrono::microseconds, std::chrono::steady_clock;

// --- the child ---

// Builds and removes it again and again. Returns after an error.
void build_for_ever(ActuatorCaller& caller, const AnyCluster& one, Teller& teller) {
  const ActuatorFile file = actuator_file();
  std::vector<std::pair<ActuatorSlot, std::string>> steps = {{ActuatorSlot::reconcile, file.valid}};
  if (!file.changed.empty()) steps.emplace_back(ActuatorSlot::reconcile, file.changed);
  steps.emplace_back(ActuatorSlot::remove, file.valid);
  while (true) {
    for (const auto& [slot, value] : steps) {
      teller.tell("C\n");
      AnyCluster now = one;
      now.value = value;
      const auto outcome = caller.drive(slot, now);
      if (!is_done(outcome)) return teller.tell("E " + words_of(outcome) + "\n");
    }
  }
}

int builder_main(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments.at(0);
  AnyCluster one;
  one.ns = arguments.at(1);
  one.name = arguments.at(2);
  one.uid = arguments.at(3);
  Teller teller;
  TestHost host("subject", config_in(directory));
  Neighbours neighbours(host, subject().options, directory);
  std::optional<ActuatorCaller> caller;
  Instance instance(subject().plugin.plugin(), host);
  auto up = neighbours.up();
  if (up.ok()) up = instance.up();
  if (!up.ok()) {
    teller.tell("E start: " + up.error().message + "\n");
    return 1;
  }
  caller.emplace(instance.ref(DAVIT_ACTUATOR), host);
  build_for_ever(*caller, one, teller);
  return 1;
}
const ChildProgram builder("actuator-builder", &builder_main);

// --- the parent ---

std::chrono::milliseconds actuator_torture_time() {
  const char* seconds = std::getenv("DAVIT_TORTURE_SECONDS");
  return seconds == nullptr ? std::chrono::milliseconds(2500)
                            : std::chrono::seconds(std::max(0, std::atoi(seconds)));
}

class ActuatorTorture : public Actuator {
 protected:
  // How long one call takes, for the moments of the kills.
  microseconds time_of_one() {
    AnyCluster one = cluster(file_.valid);
    const auto begin = steady_clock::now();
    build(one);
    remove(one);
    return std::chrono::duration_cast<microseconds>(steady_clock::now() - begin) / 2;
  }
};

TEST_F(ActuatorTorture, T5_AKilledProcessLeavesOneClusterAndNeverTwo) {
  DAVIT_NEEDS_COMMAND("inventory");
  if (!subject().options.string("in_memory").empty())
    GTEST_SKIP() << "this configuration keeps nothing over a kill";
  const size_t count = things_of_one();
  const microseconds span = std::max(microseconds(500), time_of_one());
  std::mt19937_64 random(random_seed());
  AnyCluster one = cluster(file_.valid);
  const auto until = steady_clock::now() + actuator_torture_time();
  int kills = 0, calls = 0;
  while (steady_clock::now() < until || kills < 12) {
    const size_t lines = 1 + random() % 6;
    const Life life{[=](std::string_view told) {
                      return told.find('E') != told.npos ||
                             std::count(told.begin(), told.end(), '\n') >= std::ptrdiff_t(lines);
                    },
                    microseconds(random() % static_cast<uint64_t>(span.count()))};
    fresh_->stop();
    const std::string told =
        run_and_kill("actuator-builder", {fresh_->directory(), one.ns, one.name, one.uid}, life);
    ASSERT_EQ(told.find('E'), std::string::npos) << told;
    calls += static_cast<int>(std::count(told.begin(), told.end(), '\n'));
    ASSERT_GT(calls, 0) << "nothing was called";
    ++kills;
    restart();
    if (kills % 3 != 0) {
      AnyCluster again = one;
      build(again);
      ASSERT_EQ(things().size(), count) << "after kill " << kills << ": " << things().front();
    }
    if (kills % 3 != 1) {
      AnyCluster again = one;
      remove(again);
      if (kills % 3 == 2) remove(again);  // as after a kill that came when all had gone
      ASSERT_EQ(things().size(), 0u) << "after kill " << kills << ": " << things().front();
    }
  }
  std::cout << "[          ] " << kills << " kills in " << calls << " calls\n";
}

}  // namespace
}  // namespace davit::conformance
