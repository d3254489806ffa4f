// Optional, beside the role storage: what others than Davit have written into the store for it to
// carry out. abi/storage_intents.h has the contract. storage::IntentsRole makes the table of a
// backend that also has
//
//   Result<> open_intents(const Op&, uint64_t after, uint32_t limit, const storage::VisitIntent&);
//   Result<> settle_intent(const Op&, const storage::IntentOutcome&);
//
// storage::Intents is the other end: it calls the table. It blocks: call it on the storage's pool.
#pragma once

#include "abi/storage_intents.h"
#include "lookup.hpp"
#include "operation.hpp"
#include "plugin.hpp"
#include "records.hpp"

namespace davit::storage {

struct Intent {
  uint64_t id = 0;
  std::string document, author;
};
// Returns false to stop.
using VisitIntent = std::function<bool(const Intent&)>;

struct IntentOutcome {
  uint64_t id = 0;
  std::optional<Error> error{};
  Cursor at{};  // without an error: of the record as it is
};

struct IntentsRole {
  static constexpr std::string_view id = DAVIT_STORAGE_INTENTS;

  template <class T>
  static const void* vtable() {
    static const davit_storage_intents table = {
        sizeof(davit_storage_intents), 0,
        [](davit_instance* i, const davit_op* op, uint64_t after, uint32_t limit,
           davit_visit_intent visit, void* ctx, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            return detail::object<T>(i).open_intents(
                Op(op), after, limit, [&](const Intent& intent) {
                  const davit_intent abi{sizeof abi, 0, intent.id, str(intent.document),
                                         str(intent.author)};
                  return visit(ctx, &abi) == 0;
                });
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_intent_outcome* o, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            IntentOutcome outcome{o->id, std::nullopt, from_abi(o->at)};
            if (o->error != nullptr) outcome.error = take(*o->error, o->error->code);
            return detail::object<T>(i).settle_intent(Op(op), outcome);
          });
        }};
    return &table;
  }
};

// Calls the intents table of a storage instance.
class Intents {
 public:
  explicit Intents(davit_ref ref)
      : ref_(ref), vtable_(static_cast<const davit_storage_intents*>(ref.vtable)) {}

  static Result<Intents> find(const Host& host, std::string_view storage) {
    auto ref = davit::find(host, storage, DAVIT_STORAGE_INTENTS);
    if (!ref.ok()) return ref.error();
    return Intents(*ref);
  }

  // At most `limit` open intents above `after`, in ascending order of their ids. None: there are no
  // more.
  Result<std::vector<Intent>> open(const Op& op, uint64_t after, uint32_t limit) const {
    std::vector<Intent> out;
    Visitor visitor([&out](const davit_intent& i) {
      out.push_back({i.id, text(i.document), text(i.author)});
      return true;
    });
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->open(ref_.self, op.abi(), after, limit, visitor, &visitor, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return out;
  }
  Result<> settle(const Op& op, const IntentOutcome& outcome) const {
    davit_error error{};
    if (outcome.error) fill(&error, *outcome.error);
    const davit_intent_outcome abi{sizeof abi, 0, outcome.id, outcome.error ? &error : nullptr,
                                   to_abi(outcome.at)};
    return checked([&](davit_error* e) { return vtable_->settle(ref_.self, op.abi(), &abi, e); });
  }

 private:
  davit_ref ref_;
  const davit_storage_intents* vtable_;
};

}  // namespace davit::storage
