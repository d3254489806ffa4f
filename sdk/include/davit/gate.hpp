// Role gate in C++: decides whether this process is the one that works. gate::Role makes the ABI
// table of a class, and gate::Client waits at the gate of the process. abi/gate.h has the contract.
//
//   class Leader {
//    public:
//     using roles = davit::Roles<davit::gate::Role>;
//     void wait(gate::Opened opened);   // call opened once: with the epoch, or 0 if it never opens
//   };
#pragma once

#include "lookup.hpp"
#include "plugin.hpp"

namespace davit::gate {

using Opened = std::function<void(uint64_t epoch)>;

struct Role {
  static constexpr std::string_view id = DAVIT_GATE;

  template <class T>
  static const void* vtable() {
    static const davit_gate table = {
        sizeof(davit_gate), 0, [](davit_instance* i, davit_gate_opened opened, void* ctx) {
          must_not_throw("davit_gate.wait", [&] {
            detail::object<T>(i).wait([opened, ctx](uint64_t epoch) { opened(ctx, epoch); });
          });
        }};
    return &table;
  }
};

class Client {
 public:
  // Finds the gate of this process, if it has one. No setting names the gate, so no plugin can miss
  // it. A second gate is refused (INVALID_ARGUMENT). Only in wire().
  static Result<std::optional<Client>> find(const Host& host) {
    const auto gates = each(host, DAVIT_GATE);
    if (gates.empty()) return std::optional<Client>();
    if (gates.size() == 1) return std::optional<Client>(Client(gates.front()));
    return Error{Code::invalid_argument,
                 "\"" + text(gates[0].instance) + "\" and \"" + text(gates[1].instance) +
                     "\" are both gates: a process works behind one; keep one of them",
                 {},
                 {}};
  }
  std::string name() const { return text(ref_.instance); }
  // Whatever `opened` uses must live until destroy of the waiting instance: a gate that never
  // opened calls it with 0 after that instance has stopped.
  void wait(Opened opened) const {
    static_cast<const davit_gate*>(ref_.vtable)
        ->wait(
            ref_.self,
            [](void* ctx, uint64_t epoch) {
              must_not_throw("the answer to davit_gate.wait", [&] {
                std::unique_ptr<Opened>(static_cast<Opened*>(ctx))->operator()(epoch);
              });
            },
            new Opened(std::move(opened)));
  }

 private:
  explicit Client(davit_ref ref) : ref_(ref) {}
  davit_ref ref_{};
};

}  // namespace davit::gate
