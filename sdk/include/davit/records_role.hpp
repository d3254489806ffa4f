// Role records in C++: validated writes and reads of desired state, for controllers. A provider is
// one class, and records::Role makes its ABI table. records::Client calls a records instance.
// abi/records_role.h has the contract.
//
//   class Provider {
//    public:
//     using roles = davit::Roles<davit::records::Role>;
//     void apply(const Op&, records::Apply, records::ApplyDone);
//     void get(const Op&, Query, records::Done);
//     void list(const Op&, records::Read, records::Done);
//     Result<records::WatchHandle*> watch(records::Read, uint32_t credit, records::Watcher);
//     void credit(records::WatchHandle*, uint32_t more);
//     void cancel(records::WatchHandle*);
//   };
//
// Each Done is called exactly once. The Op lives until then.
#pragma once

#include "abi/records_role.h"
#include "flags.hpp"
#include "lookup.hpp"
#include "plugin.hpp"
#include "records_role_values.hpp"

namespace davit::records {

// The base of a provider's watch. A provider derives its own class from it, and the ABI passes a
// pointer to it as the handle.
struct WatchHandle {
  virtual ~WatchHandle() = default;
};

struct Role {
  static constexpr std::string_view id = DAVIT_RECORDS;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_records table = {
        sizeof(davit_records),
        0,
        [](davit_instance* i, const davit_op* op, const davit_apply* a, davit_apply_done done,
           void* ctx) {
          must_not_throw("davit_records.apply", [&] {
            ApplyDone answer = [done, ctx](const AppliedList& results) {
              const AppliedView v(results);
              done(ctx, v.pointers.data(), v.pointers.size());
            };
            if (auto known = all_understood(*a); !known.ok()) {
              AppliedList refused;
              for (size_t n = 0; n < a->documents_count; ++n)
                refused.push_back({from_abi(a->documents[n]->key), {}, {}, known.error()});
              return answer(std::move(refused));
            }
            object<T>(i).apply(Op(op), from_abi(*a), std::move(answer));
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_query* q, davit_records_done done,
           void* ctx) {
          must_not_throw("davit_records.get",
                         [&] { object<T>(i).get(Op(op), from_abi(*q), answer(done, ctx)); });
        },
        [](davit_instance* i, const davit_op* op, const davit_records_read* q,
           davit_records_done done, void* ctx) {
          must_not_throw("davit_records.list", [&] {
            if (auto known = understood(*q); !known.ok()) return answer(done, ctx)(known.error());
            object<T>(i).list(Op(op), from_abi(*q), answer(done, ctx));
          });
        },
        [](davit_instance* i, const davit_records_read* q, uint32_t credit,
           const davit_records_watcher* w, void* self, davit_records_watch** out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*q); !known.ok()) return known;
            Result<WatchHandle*> made =
                object<T>(i).watch(from_abi(*q), credit, callbacks(*w, self));
            if (!made.ok()) return made.error();
            *out = reinterpret_cast<davit_records_watch*>(*made);
            return {};
          });
        },
        [](davit_instance* i, davit_records_watch* w, uint32_t more) {
          must_not_throw("davit_records.credit",
                         [&] { object<T>(i).credit(reinterpret_cast<WatchHandle*>(w), more); });
        },
        [](davit_instance* i, davit_records_watch* w) {
          must_not_throw("davit_records.cancel",
                         [&] { object<T>(i).cancel(reinterpret_cast<WatchHandle*>(w)); });
        }};
    return &table;
  }

 private:
  static Done answer(davit_records_done done, void* ctx) {
    return [done, ctx](const Result<Found>& found) {
      const FoundView v(found);
      done(ctx, &v.abi);
    };
  }
  static Watcher callbacks(const davit_records_watcher& w, void* self) {
    return {[event = w.event, self](const Event& e) {
              const EventView v(e);
              event(self, &v.abi);
            },
            [ended = w.ended, self](const std::optional<Error>& why) {
              davit_error abi{};
              if (why) fill(&abi, *why);
              ended(self, why ? &abi : nullptr);
            }};
  }
};

// The handle of one watch. Its holder cancels it once, also when it has ended by itself. Before the
// holder destroys anything that the callbacks use, it waits for `ended`.
class Watch {
 public:
  Watch() = default;
  Watch(davit_ref ref, davit_records_watch* w) : ref_(ref), watch_(w) {}
  void credit(uint32_t more) const { table()->credit(ref_.self, watch_, more); }
  void cancel() const { table()->cancel(ref_.self, watch_); }

 private:
  const davit_records* table() const { return static_cast<const davit_records*>(ref_.vtable); }
  davit_ref ref_{};
  davit_records_watch* watch_ = nullptr;
};

// Calls a records instance. Each `done` runs once, on any thread, perhaps before the call returns.
// `op` must live until then.
class Client {
 public:
  Client() = default;
  // `author` is stored with what this client writes.
  Client(davit_ref ref, std::string author) : ref_(ref), author_(std::move(author)) {}
  // The instance that the setting `key` names; without the setting the only one. Its author is the
  // instance that asks.
  static Result<Client> find(const Host& host, const std::optional<std::string>& named,
                             std::string_view key) {
    auto ref = find_or_only(host, named, key, DAVIT_RECORDS);
    if (!ref.ok()) return ref.error();
    if (!*ref)
      return Error{Code::not_found, "no instance plays the role records: load \"desired\""};
    return Client(**ref, std::string(host.instance()));
  }

  // A provider that answers with another number of results gets INTERNAL for every document.
  void apply(Apply request, ApplyDone done, const Op& op) const {
    if (request.author.empty()) request.author = author_;
    std::vector<Key> keys;
    for (const Document& d : request.documents) keys.push_back(d.key);
    const ApplyView v(request);
    table()->apply(ref_.self, op.abi(), &v.abi, &applied,
                   new Call{std::move(done), std::move(keys)});
  }
  void get(const Query& q, Done done, const Op& op) const {
    const davit_query abi{sizeof abi, 0, to_abi(q.key), str(q.ns), str(q.name)};
    table()->get(ref_.self, op.abi(), &abi, &found, new Done(std::move(done)));
  }
  void list(const Read& q, Done done, const Op& op) const {
    const davit_records_read abi = to_abi(q);
    table()->list(ref_.self, op.abi(), &abi, &found, new Done(std::move(done)));
  }
  // An error: the watcher is not called.
  Result<Watch> watch(const Read& q, uint32_t credit, Watcher watcher) const {
    static const davit_records_watcher callbacks = {
        sizeof callbacks, 0,
        [](void* self, const davit_records_event* e) {
          must_not_throw("davit_records_watcher.event",
                         [&] { static_cast<Watcher*>(self)->event(from_abi(*e)); });
        },
        [](void* self, const davit_error* e) {
          must_not_throw("davit_records_watcher.ended", [&] {
            const std::unique_ptr<Watcher> w(static_cast<Watcher*>(self));
            if (w->ended) w->ended(e == nullptr ? std::nullopt : std::optional(take(*e, e->code)));
          });
        }};
    const davit_records_read abi = to_abi(q);
    auto* self = new Watcher(std::move(watcher));  // its `ended` deletes it
    davit_records_watch* out = nullptr;
    auto begun = checked([&](davit_error* e) {
      return table()->watch(ref_.self, &abi, credit, &callbacks, self, &out, e);
    });
    if (begun.ok()) return Watch(ref_, out);
    delete self;
    return begun.error();
  }

 private:
  struct Call {
    ApplyDone done;
    std::vector<Key> keys;
  };
  static void applied(void* ctx, const davit_applied* const* results, size_t count) {
    const std::unique_ptr<Call> call(static_cast<Call*>(ctx));
    AppliedList out;
    for (size_t n = 0; n < call->keys.size(); ++n) {
      if (count == call->keys.size()) {
        out.push_back(from_abi(*results[n]));
      } else {
        out.push_back(
            {call->keys[n],
             {},
             {},
             Error{Code::internal, "apply gave " + std::to_string(count) + " results for " +
                                       std::to_string(call->keys.size()) + " documents"}});
      }
    }
    must_not_throw("the answer to davit_records.apply", [&] { call->done(std::move(out)); });
  }
  static void found(void* ctx, const davit_records_page* page) {
    const std::unique_ptr<Done> done(static_cast<Done*>(ctx));
    must_not_throw("the answer to a read of davit_records", [&] { (*done)(from_abi(*page)); });
  }
  const davit_records* table() const { return static_cast<const davit_records*>(ref_.vtable); }
  davit_ref ref_{};
  std::string author_;
};

}  // namespace davit::records
