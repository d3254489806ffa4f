// Optional, beside the role storage: backup, verify and restore of the store as a whole.
// abi/storage_copy.h has the contract. storage::CopyRole makes the table of a backend that also has
//
//   Result<storage::Copied> backup(const Op&, const std::string& path, const CopyProgress&);
//   Result<storage::Copied> verify(const Op&, const std::string& path, const CopyProgress&);
//   Result<storage::Restored> restore(const Op&, const std::string& path);
//
// storage::Copies is the other end: it calls them. All of them block: call them on the storage's
// pool.
#pragma once

#include "abi/storage_copy.h"
#include "lookup.hpp"
#include "operation.hpp"
#include "plugin.hpp"
#include "records.hpp"

namespace davit::storage {

struct Copied {
  uint64_t bytes = 0;
  Cursor head;
};
struct Restored {
  Copied copied;
  std::string aside;  // the new path of the old store; empty: there was none
};
// How far a call is, in bytes. total 0: not known. Return false to end the call with CANCELLED.
using CopyProgress = std::function<bool(uint64_t done, uint64_t total)>;

struct CopyRole {
  static constexpr std::string_view id = DAVIT_STORAGE_COPY;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_storage_copy table = {
        sizeof(davit_storage_copy), 0,
        [](davit_instance* i, const davit_op* op, davit_str path, davit_copy_progress progress,
           void* ctx, davit_copied* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            return give(object<T>(i).backup(Op(op), text(path), teller(progress, ctx)), out);
          });
        },
        [](davit_instance* i, const davit_op* op, davit_str path, davit_copy_progress progress,
           void* ctx, davit_copied* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            return give(object<T>(i).verify(Op(op), text(path), teller(progress, ctx)), out);
          });
        },
        [](davit_instance* i, const davit_op* op, davit_str path, davit_copied* out,
           const davit_sink* aside, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            auto r = object<T>(i).restore(Op(op), text(path));
            if (!r.ok()) return r.error();
            emit(aside, r->aside);
            return give(Result<Copied>(r->copied), out);
          });
        }};
    return &table;
  }

 private:
  static CopyProgress teller(davit_copy_progress progress, void* ctx) {
    return [progress, ctx](uint64_t done, uint64_t total) {
      return progress == nullptr || progress(ctx, done, total) == 0;
    };
  }
  static Result<> give(const Result<Copied>& r, davit_copied* out) {
    if (!r.ok()) return r.error();
    put(out, davit_copied{sizeof(davit_copied), 0, r->bytes, to_abi(r->head)});
    return {};
  }
};

// Calls the copy table of a storage instance.
class Copies {
 public:
  explicit Copies(davit_ref ref)
      : ref_(ref), vtable_(static_cast<const davit_storage_copy*>(ref.vtable)) {}

  // FAILED_PRECONDITION: the storage does not have this table. Only in wire().
  static Result<Copies> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_STORAGE_COPY);
    if (!ref.ok()) return ref.error();
    return Copies(*ref);
  }

  // The same table, whose calls have this op. Without one they have no deadline, and nobody cancels
  // them. What is no Operation outlives the calls.
  Copies under(CallerOp op) const {
    Copies out = *this;
    out.op_ = std::move(op);
    return out;
  }

  std::string_view instance() const { return view(ref_.instance); }

  Result<Copied> backup(const std::string& path, CopyProgress tell) const {
    return call(vtable_->backup, path, tell);
  }
  Result<Copied> verify(const std::string& path, CopyProgress tell) const {
    return call(vtable_->verify, path, tell);
  }
  Result<Restored> restore(const std::string& path) const {
    auto out = to_fill<davit_copied>();
    StringSink aside;
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->restore(ref_.self, op_.abi(), str(path), &out, aside.get(), e);
        },
        aside);
    if (!r.ok()) return r.error();
    return Restored{{out.bytes, from_abi(out.head)}, aside.take()};
  }

 private:
  template <class Slot>
  Result<Copied> call(Slot slot, const std::string& path, CopyProgress& tell) const {
    auto out = to_fill<davit_copied>();
    Visitor progress([&](uint64_t done, uint64_t total) { return !tell || tell(done, total); });
    auto r = checked(
        [&](davit_error* e) {
          return slot(ref_.self, op_.abi(), str(path), progress, &progress, &out, e);
        },
        progress);
    if (!r.ok()) return r.error();
    return Copied{out.bytes, from_abi(out.head)};
  }

  davit_ref ref_;
  const davit_storage_copy* vtable_;
  CallerOp op_;
};

}  // namespace davit::storage
