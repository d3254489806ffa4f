// What the suite of the role actuator shares: calls of the table, clusters to be built, and what is
// really there. The rules T1 to T11 are in abi/actuator.h.
//
// `conformance.actuator = "FILE"` in the configuration names a JSON file, relative to the
// configuration, with values of spec.providerSpec.value:
//
//   {"valid": {...},      a cluster that can be built
//    "changed": {...},    the same cluster, changed
//    "long": {...},       is built in several calls (T8)
//    "slow": {...},       the call stays open for minutes, unless somebody ends it (T2, T7)
//    "invalid": [{"value": {...}, "where": "spec.providerSpec.value.zone"}],
//    "foreign": {...},    of another provider
//    "hidden": [{"value": {...}, "text": "a credential in it, which nobody may be shown"}]}
//
// "valid" is needed. Tests of what is left out are skipped. These keys are shell commands, in which
// $TMP is the directory of the test:
//
//   conformance.inventory   prints a line for each thing that exists, and all that tells it from
//                           others: its name, its id, what a change of the providerSpec changes
//   conformance.damage      takes one of the things away, as somebody else would do it by hand
//   conformance.away, conformance.back  take the provider away, and bring it back
#pragma once

#include <davit/actuator.hpp>
#include <davit/operation.hpp>

#include <boost/json.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "suite.hpp"

namespace davit::conformance {

namespace json = boost::json;

// The file `conformance.actuator`. A member is a JSON text, or empty where it is left out.
struct ActuatorFile {
  struct Invalid {
    std::string value, where;
  };
  struct Hidden {
    std::string value, text;
  };
  std::string valid, changed, takes_long, slow, foreign;
  std::vector<Invalid> invalid;
  std::vector<Hidden> hidden;
};
// Without `valid`: there is no file, or it is wrong.
ActuatorFile actuator_file();

// A Cluster as the API server has it.
struct AnyCluster {
  std::string ns, name, uid;
  std::string value;          // spec.providerSpec.value; empty: there is no providerSpec
  std::string status = "{}";  // what the answers so far have made of it
  bool has_more = false;      // with members and numbers that no actuator knows
  std::string json() const;
};

enum class ActuatorSlot { reconcile, remove };

// One call, to the table and not by actuator::Client, which could not tell that an answer came
// twice. Its owner keeps it until the instance has been destroyed.
class ActuatorCall {
 public:
  explicit ActuatorCall(Operation operation) : operation_(std::move(operation)) {}

  struct How {
    uint32_t flags = 0;
    bool hears_events = true;
  };
  void begin(davit_ref ref, ActuatorSlot slot, const AnyCluster& cluster, const std::string& text,
             How how);
  // Whether the answer has come, after `patience`.
  bool wait(std::chrono::milliseconds patience);
  // The first answer.
  actuator::Outcome answer() const;
  size_t answers() const;
  std::vector<actuator::Event> events() const;
  size_t late_events() const;  // that came after the answer
  const Operation& operation() const { return operation_; }

 private:
  static void answered(void* ctx, const davit_actuator_result* result);
  static void told(void* self, const davit_actuator_event* event);

  Operation operation_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::vector<actuator::Outcome> answers_;
  std::vector<actuator::Event> events_;
  size_t late_ = 0;
};

// What an answer is, for messages.
std::string words_of(const actuator::Outcome& outcome);
// Nothing is left to do: neither an error nor a call that is to come.
bool is_done(const actuator::Outcome& outcome);

// Calls an instance until a cluster is built or removed, as the caller of actuators does: it waits
// between calls, tries again what was UNAVAILABLE, and keeps the status.
class ActuatorCaller {
 public:
  ActuatorCaller(davit_ref ref, Host host) : ref_(ref), host_(host) {}

  // Begins a call. It never ends by itself when there is no deadline.
  ActuatorCall& begin(ActuatorSlot slot, const AnyCluster& cluster,
                      std::optional<Operation> operation = {}, ActuatorCall::How how = {});
  // The answer to one call. `cluster.status` is what it makes of it.
  actuator::Outcome once(ActuatorSlot slot, AnyCluster& cluster);
  // The last answer: it is done, or failed, or did not end in time.
  actuator::Outcome drive(ActuatorSlot slot, AnyCluster& cluster);
  actuator::Outcome wait(ActuatorCall& call);
  // An operation with the deadline of ordinary calls.
  Operation in_time() const;
  const std::deque<ActuatorCall>& calls() const { return calls_; }
  // A later instance of the same.
  void use(davit_ref ref, Host host) { ref_ = ref, host_ = host; }

 private:
  davit_ref ref_;
  Host host_;
  std::deque<ActuatorCall> calls_;
};

// One instance under test, and what exists of its provider.
class Actuator : public ::testing::Test {
 protected:
  using Slot = ActuatorSlot;
  void SetUp() override;
  // Removes what the test has built, where a provider outlives the test.
  void TearDown() override;

  // A cluster that is not there yet. Its uid, and without `name` its name, are new.
  AnyCluster cluster(const std::string& value, const std::string& name = {},
                     const std::string& ns = "default");
  // Builds or removes it to the end. A failure fails the test.
  void build(AnyCluster& cluster);
  void remove(AnyCluster& cluster);
  // The things that exist and did not at the beginning of the test, sorted.
  std::vector<std::string> things() const;
  // How many things a valid cluster is.
  size_t things_of_one();
  // A new instance of the same. The one before is stopped, if it is not yet.
  void restart();

  static bool is_configured(const std::string& key) {
    return !subject().options.string(key).empty();
  }
  std::string run(const std::string& key) const;  // returns the output of the command

  const ActuatorFile file_ = actuator_file();
  std::optional<ActuatorCaller> caller_;  // outlives the instances, which may answer too often
  std::unique_ptr<Fresh> fresh_;

 private:
  std::vector<std::string> before_;
  std::deque<AnyCluster> made_;
};

// Shell commands of the configuration and files that a test needs. The test is skipped without.
#define DAVIT_NEEDS_COMMAND(key) \
  if (!is_configured(key)) GTEST_SKIP() << "conformance." key " is not configured"
#define DAVIT_NEEDS_VALUE(member, text) \
  if ((member).empty()) GTEST_SKIP() << "conformance.actuator has no \"" text "\""

}  // namespace davit::conformance
