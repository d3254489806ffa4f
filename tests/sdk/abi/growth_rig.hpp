// The host of growth_test, which counts what the plugin and it exercise.
#pragma once

#include <gtest/gtest.h>

#include <davit/gate.hpp>
#include <davit/rights.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_intents.hpp>
#include <davit/storage_move.hpp>
#include <davit/testing/module.hpp>

#include "counting.hpp"
#include "services.hpp"

namespace davit::test {

using testing::Config;
using testing::TestHost;
using values::words;

// A struct for the plugin to fill in, with bytes behind it that are not its own.
template <class T>
struct Guarded {
  T value = to_fill<T>();
  uint8_t behind[64];
  Guarded() { std::memset(behind, 0xA5, sizeof behind); }
  bool intact() const {
    return value.struct_size == sizeof value &&
           std::all_of(behind, std::end(behind), [](uint8_t b) { return b == 0xA5; });
  }
};

class Growth : public ::testing::Test {
 protected:
  Growth() {
    host_.add_service(DAVIT_CODEC, codec());
    host_.add_service(DAVIT_RPC, rpc_.table());
    host_.set_credential("/secret", "key\n");
    count_service<davit_log>(DAVIT_LOG);
    count_service<davit_config>(DAVIT_CONFIG);
    count_service<davit_metrics>(DAVIT_METRICS);
    count_service<davit_exec>(DAVIT_EXEC);
    count_service<davit_clock>(DAVIT_CLOCK);
    count_service<davit_lookup>(DAVIT_LOOKUP);
    count_service<davit_state>(DAVIT_STATE);
    count_service<davit_health>(DAVIT_HEALTH);
    count_service<davit_shutdown>(DAVIT_SHUTDOWN);
    count_service<davit_credentials>(DAVIT_CREDENTIALS);
    count_service<davit_commit>(DAVIT_COMMIT);
    count_service<davit_codec>(DAVIT_CODEC);
    count_service<davit_rpc>(DAVIT_RPC);
    count(const_cast<davit_host*>(host_.abi()));
    count(const_cast<davit_op*>(operation_.abi()));
    operation_.cancel();
  }
  template <class T>
  void count_service(const char* id) {
    host_.add_service(id, counted(static_cast<const T*>(host_.abi()->query(host_.abi(), str(id)))));
  }
  template <class T>
  davit_ref role(const char* id) {
    return {instance_->get(), counted(instance_->role<T>(id)), str("every")};
  }
  void expect_logged(const std::string& line) {
    EXPECT_TRUE(host_.logged("info: " + line)) << line;
  }

  void comes_up();
  void lives();
  void stores();
  void stores_beside_other_bytes();
  void tells_beside_other_bytes();
  void copies();
  void moves();
  void has_intents();
  davit_ref schema() { return role<davit_storage_schema>(DAVIT_STORAGE_SCHEMA); }
  void has_a_kind();
  void takes_changes();
  void resolves();
  void actuates();
  void applies();
  void asks_the_cluster();
  void calls();
  void dies();
  void is_rejected();

  Rpc rpc_;
  TestHost host_{"every",
                 Config{{"number", 181},
                        {"ratio", 0.5},
                        {"yes", true},
                        {"texts", {"a", "b"}},
                        {"inner.key", "value"}},
                 TestHost::Time::manual};
  const Operation operation_{171, "00-trace-01"};
  std::optional<testing::Instance> instance_;
  davit_plugin* plugin_ = nullptr;
};

inline void Growth::has_intents() {
  const storage::Intents intents(role<davit_storage_intents>(DAVIT_STORAGE_INTENTS));
  EXPECT_EQ(words(*intents.open(operation_, 306, 307)),
            words(std::vector{values::intent(), values::intent()}));
  expect_logged("davit_storage_intents.open " + words(306, 307));
  EXPECT_TRUE(intents.settle(operation_, values::outcome()).ok());
  expect_logged("davit_storage_intents.settle " + words(values::outcome()));
  EXPECT_TRUE(storage::Election(role<davit_storage_election>(DAVIT_STORAGE_ELECTION)).leads());
  EXPECT_TRUE(storage::Election().leads());
}

inline void Growth::moves() {
  const storage::Moves moves =
      storage::Moves(role<davit_storage_move>(DAVIT_STORAGE_MOVE)).under(operation_);
  EXPECT_TRUE(moves.observe(true).ok());
  EXPECT_EQ(*moves.begin({.look = true}), "a note");
  const storage::Load load{{values::record()}, {values::status()}, "note"};
  EXPECT_TRUE(moves.load(load).ok());
  const storage::LoadEnd end{{{1, 2}, {3, 4}}, 5};
  EXPECT_TRUE(moves.finish(end).ok());
  expect_logged("davit_storage_move.observe true");
  expect_logged("davit_storage_move.begin true false");
  expect_logged("davit_storage_move.load " + words(load.records, load.statuses, load.note));
  expect_logged("davit_storage_move.finish " + words(end.history, end.status_head));
  has_intents();
}

}  // namespace davit::test
