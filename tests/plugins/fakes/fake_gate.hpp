// A gate that the test opens, and a stop of what stands behind it.
#pragma once

#include <atomic>
#include <thread>

#include <davit/gate.hpp>
#include <davit/testing/module.hpp>

namespace davit::testing {

class FakeGate {
 public:
  FakeGate(TestHost& host, const std::string& name) {
    host.add_role(name, DAVIT_GATE, reinterpret_cast<davit_instance*>(this),
                  gate::Role::vtable<FakeGate>());
  }
  void wait(gate::Opened opened) { waiting_.push_back(std::move(opened)); }
  // 0: it stops.
  void open(Epoch epoch) {
    for (const auto& opened : std::exchange(waiting_, {})) opened(epoch);
  }

 private:
  std::vector<gate::Opened> waiting_;
};

// stop blocks until what it waits for has run, which on a manual clock is this thread's to do.
inline Result<> stop_running(Instance& instance, TestHost& host,
                             std::chrono::nanoseconds limit = std::chrono::seconds(10)) {
  std::atomic<bool> stopped{false};
  Result<> result;
  std::thread stopping([&] {
    result = instance.stop(limit);
    stopped = true;
  });
  while (!stopped) host.run();
  stopping.join();
  return result;
}

}  // namespace davit::testing
