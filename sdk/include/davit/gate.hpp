// Role gate in C++: decides whether this process is the one that works. gate::Role makes the ABI
// table of a class, and gate::Client waits at a gate. abi/gate.h has the contract.
//
//   class Leader {
//    public:
//     using roles = davit::Roles<davit::gate::Role>;
//     void wait(gate::Opened opened);   // call opened once: with the epoch, or 0 if it never opens
//   };
#pragma once

#include "lookup.hpp"
#include "number.hpp"
#include "plugin.hpp"

namespace davit::gate {

using Opened = std::function<void(Epoch)>;

struct Role {
  static constexpr std::string_view id = DAVIT_GATE;

  template <class T>
  static const void* vtable() {
    static const davit_gate table = {
        sizeof(davit_gate), 0, [](davit_instance* i, davit_gate_opened opened, void* ctx) {
          must_not_throw("davit_gate.wait", [&] {
            detail::object<T>(i).wait([opened, ctx](Epoch epoch) { opened(ctx, epoch.value()); });
          });
        }};
    return &table;
  }
};

class Client {
 public:
  // Finds the gate that the setting `gate` names. Without the setting it is the only gate of the
  // process, so that nobody misses it, or none. Several need the setting (INVALID_ARGUMENT). Only
  // in wire().
  static Result<std::optional<Client>> find(const Host& host,
                                            const std::optional<std::string>& named) {
    auto ref = find_or_only(host, named, "gate", DAVIT_GATE);
    if (!ref.ok()) return ref.error();
    if (!*ref) return std::optional<Client>();
    return std::optional<Client>(Client(**ref));
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
                std::unique_ptr<Opened>(static_cast<Opened*>(ctx))->operator()(Epoch(epoch));
              });
            },
            new Opened(std::move(opened)));
  }

 private:
  explicit Client(davit_ref ref) : ref_(ref) {}
  davit_ref ref_{};
};

}  // namespace davit::gate
