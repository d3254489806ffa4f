// Role actuator in C++. An actuator is one class, and actuator::Role makes its ABI table.
// actuator::Client calls an actuator. abi/actuator.h has the contract.
//
//   class Provider {
//    public:
//     using roles = davit::Roles<davit::actuator::Role>;
//     void reconcile(const Op&, actuator::Call, actuator::Done);
//     void remove(const Op&, actuator::Call, actuator::Done);
//   };
//
// Each calls Done exactly once, on any thread. The Op and the call's `event` live until then.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "abi/actuator.h"
#include "flags.hpp"
#include "lookup.hpp"
#include "plugin.hpp"

namespace davit {

template <>
struct Flags<davit_actuator_call> {
  static constexpr const char* of = "davit_actuator_call";
  static constexpr uint32_t known = 0;
};

}  // namespace davit

namespace davit::actuator {

struct Event {
  bool warning = false;
  std::string reason, message;
};

struct Call {
  std::string ns, name, uid;
  std::string cluster;                      // the whole Cluster as JSON
  std::function<void(const Event&)> event;  // never empty for an actuator
};

struct Outcome {
  std::optional<Error> error;  // nullopt: it is done, or goes on if requeue_after is not 0
  std::chrono::milliseconds requeue_after{0};
  std::string status_patch;  // a JSON merge patch; empty: nothing
  std::string error_reason;  // of an error: "CreateError"; empty: by its code
  std::string progress;      // what is being waited for, for people
};

using Done = std::function<void(const Outcome&)>;

struct Role {
  static constexpr std::string_view id = DAVIT_ACTUATOR;

  template <class T>
  static const void* vtable() {
    static const davit_actuator table = {
        sizeof(davit_actuator), 0,
        [](davit_instance* i, const davit_op* op, const davit_actuator_call* call,
           davit_actuator_done done, void* ctx) {
          must_not_throw("davit_actuator.reconcile", [&] {
            if (unknown(*call, done, ctx)) return;
            detail::object<T>(i).reconcile(Op(op), from_abi(*call),
                                           [done, ctx](const Outcome& o) { answer(o, done, ctx); });
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_actuator_call* call,
           davit_actuator_done done, void* ctx) {
          must_not_throw("davit_actuator.remove", [&] {
            if (unknown(*call, done, ctx)) return;
            detail::object<T>(i).remove(Op(op), from_abi(*call),
                                        [done, ctx](const Outcome& o) { answer(o, done, ctx); });
          });
        }};
    return &table;
  }

 private:
  static Call from_abi(const davit_actuator_call& c) {
    return {text(c.ns), text(c.name), text(c.uid), text(c.cluster),
            [event = c.event, self = c.self](const Event& e) {
              if (event == nullptr) return;
              const davit_actuator_event abi{sizeof(davit_actuator_event), e.warning ? 1 : 0,
                                             str(e.reason), str(e.message)};
              event(self, &abi);
            }};
  }
  static void answer(const Outcome& o, davit_actuator_done done, void* ctx) {
    davit_error error{};
    davit_actuator_result abi{sizeof(davit_actuator_result),
                              0,
                              nullptr,
                              o.requeue_after.count(),
                              str(o.status_patch),
                              str(o.error_reason),
                              str(o.progress)};
    if (o.error) {
      fill(&error, *o.error);
      abi.error = &error;
    }
    done(ctx, &abi);
  }
  // A critical flag that is not known.
  static bool unknown(const davit_actuator_call& c, davit_actuator_done done, void* ctx) {
    const auto read = understood(c);
    if (read.ok()) return false;
    Outcome refused;
    refused.error = read.error();
    answer(refused, done, ctx);
    return true;
  }
};

// Calls an actuator.
class Client {
 public:
  Client() = default;
  explicit Client(davit_ref ref) : ref_(ref) {}
  static Result<Client> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_ACTUATOR);
    if (!ref.ok()) return ref.error();
    return Client(*ref);
  }

  // `done` runs once, on any thread, perhaps before this returns. `op` must live until then.
  // `call.event` may be empty; else it is called on any thread until `done` has run.
  void reconcile(Call call, Done done, const Op& op) const {
    begin(table()->reconcile, std::move(call), std::move(done), op);
  }
  void remove(Call call, Done done, const Op& op) const {
    begin(table()->remove, std::move(call), std::move(done), op);
  }

 private:
  struct Open {
    std::function<void(const Event&)> event;
    Done done;
  };
  const davit_actuator* table() const { return static_cast<const davit_actuator*>(ref_.vtable); }

  void begin(void (*slot)(davit_instance*, const davit_op*, const davit_actuator_call*,
                          davit_actuator_done, void*),
             Call call, Done done, const Op& op) const {
    auto* open = new Open{std::move(call.event), std::move(done)};
    const davit_actuator_call abi{sizeof(davit_actuator_call),
                                  0,
                                  str(call.ns),
                                  str(call.name),
                                  str(call.uid),
                                  str(call.cluster),
                                  open->event ? &told : nullptr,
                                  open};
    slot(ref_.self, op.abi(), &abi, &answered, open);
  }
  static void told(void* self, const davit_actuator_event* e) {
    must_not_throw("an event of davit_actuator", [&] {
      static_cast<Open*>(self)->event({e->warning != 0, text(e->reason), text(e->message)});
    });
  }
  static void answered(void* ctx, const davit_actuator_result* r) {
    const std::unique_ptr<Open> open(static_cast<Open*>(ctx));
    Outcome out{std::nullopt, std::chrono::milliseconds(r->requeue_after_ms), text(r->status_patch),
                text(r->error_reason), text(r->progress)};
    if (r->error != nullptr) out.error = take(*r->error, r->error->code);
    must_not_throw("the answer to davit_actuator", [&] { open->done(out); });
  }
  davit_ref ref_{};
};

}  // namespace davit::actuator
