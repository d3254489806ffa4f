// Optional, beside the role storage: a store that is copied into another one, or takes such a copy.
// abi/storage_move.h has the contract. storage::MoveRole makes the table of a backend that also has
//
//   Result<> observe(const Op&, bool alone);
//   Result<std::string> begin(const Op&, storage::LoadBegin);  // the note of the last load
//   Result<> load(const Op&, const storage::Load&);
//   Result<> finish(const Op&, const storage::LoadEnd&);
//
// storage::Moves is the other end: it calls them. All of them block: call them on the storage's
// pool.
#pragma once

#include "abi/storage_move.h"
#include "flags.hpp"
#include "lookup.hpp"
#include "plugin.hpp"
#include "records.hpp"

namespace davit::storage {

struct LoadBegin {
  bool look = false;  // answer as if, and change nothing
  bool anew = false;  // forget what an interrupted copy has loaded
};
struct Load {
  std::vector<Record> records;
  std::vector<Status> statuses;
  std::string note;
};
struct LoadEnd {
  History history;
  Version status_head;
};

struct MoveRole {
  static constexpr std::string_view id = DAVIT_STORAGE_MOVE;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_storage_move table = {
        sizeof(davit_storage_move),
        0,
        [](davit_instance* i, const davit_op* op, uint32_t flags, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            auto known = understood("davit_storage_move.observe", flags, DAVIT_OBSERVE_ALONE);
            if (!known.ok()) return known;
            return object<T>(i).observe(Op(op), (flags & DAVIT_OBSERVE_ALONE) != 0);
          });
        },
        [](davit_instance* i, const davit_op* op, uint32_t flags, const davit_sink* note,
           davit_error* e) {
          return guard(e, [&]() -> Result<> {
            auto known =
                understood("davit_storage_move.begin", flags, DAVIT_LOAD_LOOK | DAVIT_LOAD_ANEW);
            if (!known.ok()) return known;
            auto r = object<T>(i).begin(
                Op(op), {(flags & DAVIT_LOAD_LOOK) != 0, (flags & DAVIT_LOAD_ANEW) != 0});
            if (!r.ok()) return r.error();
            emit(note, *r);
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_load* in, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(in->records, in->records_count); !known.ok()) return known;
            if (auto known = understood(in->statuses, in->statuses_count); !known.ok())
              return known;
            Load owned;
            for (size_t n = 0; n < in->records_count; ++n)
              owned.records.push_back(from_abi(*in->records[n]));
            for (size_t n = 0; n < in->statuses_count; ++n)
              owned.statuses.push_back(from_abi(*in->statuses[n]));
            owned.note = text(in->note);
            return object<T>(i).load(Op(op), owned);
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_load_end* in, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            LoadEnd owned;
            for (size_t n = 0; n < in->history_count; ++n)
              owned.history.push_back(from_abi(in->history[n]));
            owned.status_head = Version(in->status_head);
            return object<T>(i).finish(Op(op), owned);
          });
        }};
    return &table;
  }
};

// Calls the move table of a storage instance.
class Moves {
 public:
  explicit Moves(davit_ref ref)
      : ref_(ref), vtable_(static_cast<const davit_storage_move*>(ref.vtable)) {}

  // The same table, whose calls have this op. Without one they have no deadline, and nobody cancels
  // them. `op` outlives the calls.
  Moves under(const Op& op) const {
    Moves out = *this;
    out.op_ = op;
    return out;
  }

  Result<> observe(bool alone) const {
    return checked([&](davit_error* e) {
      return vtable_->observe(ref_.self, op_.abi(), alone ? DAVIT_OBSERVE_ALONE : 0, e);
    });
  }
  Result<std::string> begin(LoadBegin how = {}) const {
    const uint32_t flags = (how.look ? DAVIT_LOAD_LOOK : 0) | (how.anew ? DAVIT_LOAD_ANEW : 0);
    StringSink note;
    auto r = checked(
        [&](davit_error* e) { return vtable_->begin(ref_.self, op_.abi(), flags, note.get(), e); },
        note);
    if (!r.ok()) return r.error();
    return note.take();
  }
  Result<> load(const Load& in) const {
    std::deque<RecordView> records;
    std::deque<StatusView> statuses;
    std::vector<const davit_record*> record_pointers;
    std::vector<const davit_status*> status_pointers;
    for (const auto& r : in.records) record_pointers.push_back(&records.emplace_back(r).abi);
    for (const auto& s : in.statuses) status_pointers.push_back(&statuses.emplace_back(s).abi);
    const davit_load abi{sizeof(davit_load),
                         0,
                         record_pointers.data(),
                         record_pointers.size(),
                         status_pointers.data(),
                         status_pointers.size(),
                         str(in.note)};
    return checked([&](davit_error* e) { return vtable_->load(ref_.self, op_.abi(), &abi, e); });
  }
  Result<> finish(const LoadEnd& in) const {
    std::vector<davit_cursor> history;
    for (const Cursor link : in.history) history.push_back(to_abi(link));
    const davit_load_end abi{sizeof(davit_load_end), 0, history.data(), history.size(),
                             in.status_head.value()};
    return checked([&](davit_error* e) { return vtable_->finish(ref_.self, op_.abi(), &abi, e); });
  }

 private:
  davit_ref ref_;
  const davit_storage_move* vtable_;
  Op op_;
};

}  // namespace davit::storage
