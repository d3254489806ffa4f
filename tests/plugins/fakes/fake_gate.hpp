// A gate that the test opens.
#pragma once

#include <davit/gate.hpp>
#include <davit/testing/host.hpp>

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

}  // namespace davit::testing
