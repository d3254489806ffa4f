// The storage of a ServerRig as the plugin under test sees it: the real one, of which a test may
// look into each call. With it, answered_in_time() shows that no call waits for a store that hangs.
#pragma once

#include <gtest/gtest.h>

#include "server_rig.hpp"

namespace davit::testing {

class HungStorage {
 public:
  // Before rig.up().
  explicit HungStorage(ServerRig& rig) {
    const davit_ref ref = rig.store.ref(DAVIT_STORAGE);
    real_ = static_cast<const davit_storage*>(ref.vtable);
    table_ = *real_;
    watch<&davit_storage::head>("head");
    watch<&davit_storage::read>("read");
    watch<&davit_storage::get>("get");
    watch<&davit_storage::commit>("commit");
    watch<&davit_storage::report>("report");
    watch<&davit_storage::statuses>("statuses");
    watch<&davit_storage::progress>("progress");
    watch<&davit_storage::agents>("agents");
    watch<&davit_storage::maintain>("maintain");
    watch<&davit_storage::history>("history");
    rig.store_host.add_role("main", DAVIT_STORAGE, ref.self, &table_);
  }
  ~HungStorage() { entered = nullptr; }

  // Runs at the beginning of each call of the store, with the name of its slot.
  static inline std::function<void(const std::string& slot)> entered;

 private:
  template <auto Member>
  struct Slot;
  template <class... A, int32_t (*davit_storage::*Member)(davit_instance*, const davit_op*, A...)>
  struct Slot<Member> {
    static inline const char* name = "";
    static int32_t call(davit_instance* self, const davit_op* op, A... rest) {
      if (entered) entered(name);
      return (real_->*Member)(self, op, rest...);
    }
  };
  template <auto Member>
  void watch(const char* name) {
    Slot<Member>::name = name;
    table_.*Member = &Slot<Member>::call;
  }

  static inline const davit_storage* real_ = nullptr;  // the slots have no pointer of ours
  davit_storage table_{};
};

// A call that is made of a server with records.
struct TimedCall {
  std::string path, request;
  size_t store_calls = 1;  // at least so many of them are made for it
};

// Makes the call again and again, each time of a new server. The first time the first call of the
// store hangs, then the second, and so on. While it hangs, the call's deadline passes.
inline void expect_answers_in_time(const davit_plugin* plugin, const std::string& storage_module,
                                   const TimedCall& what) {
  size_t hung_calls = 0;
  for (bool hung = true; hung; hung_calls += hung ? 1 : 0) {
    ServerRig rig(plugin, storage_module);
    HungStorage store(rig);
    rig.up_with_gadget();
    for (const char* id : {"a", "b", "c"}) rig.put(id);
    rig.kill("b");
    rig.host.run();
    davit_rpc_call* call = nullptr;
    size_t calls = 0;
    hung = false;
    HungStorage::entered = [&](const std::string& slot) {
      if (call == nullptr || call->end || calls++ != hung_calls) return;
      hung = true;
      rig.host.advance(std::chrono::seconds(2));
      if (!call->end) call->cancel();  // as the host does at the deadline
      rig.host.run();
      EXPECT_TRUE(call->end) << what.path << " waits for storage." << slot;
    };
    call = &rig.rpc.call(what.path, what.request, "eu", [&](davit_rpc_call& c) {
      c.deadline_ns = (rig.host.now() + std::chrono::seconds(1)).count();
    });
    rig.host.run();
    HungStorage::entered = nullptr;
    if (!call->end) call->cancel();
    rig.host.run();
    EXPECT_TRUE(rig.down().ok());  // it still uses the store
  }
  EXPECT_GE(hung_calls, what.store_calls) << what.path;
}

}  // namespace davit::testing
