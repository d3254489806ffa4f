// Role storage in C++. A backend is one class with plain synchronous methods, and storage::Role
// makes its ABI table. storage::Client is the other end: it calls a storage instance.
//
//   class Backend {
//    public:
//     using roles = davit::Roles<davit::storage::Role>;
//     static constexpr uint32_t max_concurrency = 4;
//     Result<storage::Limits> limits();
//     Result<Head> head(const Op&);
//     Result<Page> read(const Op&, const ReadRequest&, const storage::VisitRecord&);
//     Result<Head> get(const Op&, const GetRequest&, const storage::VisitRecord&);
//     Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>&);
//     Result<> report(const Op&, const std::vector<Status>&);
//     Result<StatusPage> statuses(const Op&, const StatusRead&, const storage::VisitStatus&);
//     Result<> progress(const Op&, const Progress&);
//     Result<bool> agents(const Op&, const AgentRead&, const storage::VisitProgress&);  // more?
//     Result<> maintain(const Op&, const storage::Maintain&);
//     // optional; storage::Hints has both
//     davit_storage_watch* watch(storage::Hint);
//     void unwatch(davit_storage_watch*);
//     Result<> history(const Op&, const storage::VisitCursor&);
//   };
//
// Every method but limits, watch and unwatch may block. At most max_concurrency of them run at
// once, unless the plugin lets operators choose (plugin.hpp). abi/storage.h has the contract.
#pragma once

#include "flags.hpp"
#include "lookup.hpp"
#include "operation.hpp"
#include "plugin.hpp"
#include "storage_domain.hpp"

namespace davit::storage {

struct Role {
  static constexpr std::string_view id = DAVIT_STORAGE;

  template <class T>
  static const void* vtable() {
    using detail::object;
    static const davit_storage table = {
        sizeof(davit_storage),
        0,
        [](davit_instance* i, davit_storage_limits* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            Result<Limits> r = object<T>(i).limits();
            if (!r.ok()) return r.error();
            put(out, to_abi(*r));
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, davit_head* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            auto r = object<T>(i).head(Op(op));
            if (!r.ok()) return r.error();
            put(out, to_abi(*r));
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_read* q, davit_visit_record visit,
           void* ctx, davit_page* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*q); !known.ok()) return known;
            const ReadRequest request{{text(q->scope->kind), text(q->scope->region)},
                                      from_abi(q->cursor),
                                      Version(q->dead_after),
                                      q->limit,
                                      q->bytes_max,
                                      (q->flags & DAVIT_READ_LINGERING) != 0,
                                      (q->flags & DAVIT_READ_NO_PAYLOAD) != 0};
            auto r = object<T>(i).read(Op(op), request, visitor(visit, ctx));
            if (!r.ok()) return r.error();
            put(out, davit_page{sizeof(davit_page), r->more ? DAVIT_PAGE_MORE : 0,
                                r->next_version.value(), out->head});
            if (out->head != nullptr) put(out->head, to_abi(r->head));
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_get* q, davit_visit_record visit,
           void* ctx, davit_head* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*q); !known.ok()) return known;
            auto r = object<T>(i).get(Op(op), from_abi(*q), visitor(visit, ctx));
            if (!r.ok()) return r.error();
            put(out, to_abi(*r));
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_group* const* groups, size_t count,
           davit_group_result* const* results, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(groups, count); !known.ok()) return known;
            std::vector<Group> owned;
            for (size_t n = 0; n < count; ++n) owned.push_back(from_abi(*groups[n]));
            auto r = object<T>(i).commit(Op(op), owned);
            if (!r.ok()) return r.error();
            if (r->size() != count) {
              return Error{Code::internal, "commit gave " + std::to_string(r->size()) +
                                               " results for " + std::to_string(count) + " groups"};
            }
            for (size_t n = 0; n < count; ++n) put(results[n], to_abi((*r)[n]));
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_status* const* statuses, size_t count,
           davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(statuses, count); !known.ok()) return known;
            std::vector<Status> owned;
            for (size_t n = 0; n < count; ++n) owned.push_back(from_abi(*statuses[n]));
            return object<T>(i).report(Op(op), owned);
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_status_read* q,
           davit_visit_status visit, void* ctx, davit_status_page* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*q); !known.ok()) return known;
            const StatusRead request{{text(q->scope->kind), text(q->scope->region)},
                                     from_abi(q->cursor),
                                     q->limit,
                                     q->bytes_max};
            auto r = object<T>(i).statuses(Op(op), request, [&](const Status& s) {
              const StatusView v(s);
              return visit(ctx, &v.abi) == 0;
            });
            if (!r.ok()) return r.error();
            davit_head* head = DAVIT_HAS(out, head) ? out->head : nullptr;
            if (head != nullptr) put(head, to_abi(r->head));
            put(out, davit_status_page{0, r->more ? DAVIT_PAGE_MORE : 0, to_abi(r->next), head});
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_progress* p, davit_error* e) {
          return guard(e, [&] { return object<T>(i).progress(Op(op), from_abi(*p)); });
        },
        [](davit_instance* i, const davit_op* op, const davit_agent_read* q,
           davit_visit_progress visit, void* ctx, davit_agent_page* out, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            const AgentRead request{text(q->region), text(q->after_region), text(q->after_agent),
                                    q->limit};
            auto more = object<T>(i).agents(Op(op), request, [&](const Progress& p) {
              const ProgressView v(p);
              return visit(ctx, &v.abi) == 0;
            });
            if (!more.ok()) return more.error();
            put(out, davit_agent_page{0, *more ? DAVIT_PAGE_MORE : 0});
            return {};
          });
        },
        [](davit_instance* i, const davit_op* op, const davit_maintain* m, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            if (auto known = understood(*m); !known.ok()) return known;
            Maintain what{(m->flags & DAVIT_MAINTAIN_PURGE) != 0, Version(m->purge_through)};
            if ((m->flags & DAVIT_MAINTAIN_FORGET_AGENT) != 0)
              what.forget = {text(m->region), text(m->agent), m->agent_seen_at_unix_ms};
            return object<T>(i).maintain(Op(op), what);
          });
        },
        watch_slot<T>(),
        unwatch_slot<T>(),
        [](davit_instance* i, const davit_op* op, davit_visit_cursor visit, void* ctx,
           davit_error* e) {
          return guard(e, [&] {
            return object<T>(i).history(Op(op), [&](const Cursor& link) {
              const davit_cursor abi = to_abi(link);
              return visit(ctx, &abi) == 0;
            });
          });
        }};
    return &table;
  }

 private:
  static VisitRecord visitor(davit_visit_record visit, void* ctx) {
    return [visit, ctx](const Record& r) {
      const RecordView v(r);
      return visit(ctx, &v.abi) == 0;
    };
  }
  template <class T>
  static constexpr bool hints = requires(T& t) {
    t.watch(Hint{});
  };
  template <class T>
  static decltype(davit_storage::watch) watch_slot() {
    if constexpr (!hints<T>) return nullptr;
    return [](davit_instance* i, davit_storage_hint hint, void* ctx, davit_storage_watch** out,
              davit_error* e) {
      return guard(e, [&]() -> Result<> {
        if constexpr (hints<T>)
          *out = detail::object<T>(i).watch([hint, ctx](uint32_t what) { hint(ctx, what); });
        return {};
      });
    };
  }
  template <class T>
  static decltype(davit_storage::unwatch) unwatch_slot() {
    if constexpr (!hints<T>) return nullptr;
    return [](davit_instance* i, davit_storage_watch* watch) {
      must_not_throw("davit_storage.unwatch", [&] {
        if constexpr (hints<T>) detail::object<T>(i).unwatch(watch);
      });
    };
  }
};

// Calls a storage instance. The synchronous members block: call them inside `run`. What is outside
// of the domains is refused here (INVALID_ARGUMENT) and by the commit queue. `under` says with
// which deadline and cancellation.
class Client {
 public:
  Client() = default;
  Client(Host host, davit_ref ref)
      : host_(host),
        ref_(ref),
        vtable_(static_cast<const davit_storage*>(ref.vtable)),
        queue_(host.service<davit_commit>(DAVIT_COMMIT)) {}

  static Result<Client> find(const Host& host, std::string_view instance) {
    auto ref = davit::find(host, instance, DAVIT_STORAGE);
    if (!ref.ok()) return ref.error();
    return Client(host, *ref);
  }

  // The same client, whose calls have this op. Without one they have no deadline, and nobody
  // cancels them. What is no Operation outlives the calls, and the answers to commit and report.
  Client under(CallerOp op) const {
    Client out = *this;
    out.op_ = std::move(op);
    return out;
  }
  const Op& op() const { return op_; }

  std::string_view instance() const { return view(ref_.instance); }
  Result<Limits> limits() const {
    davit_storage_limits out{};
    out.struct_size = sizeof out;
    auto r = checked([&](davit_error* e) { return vtable_->limits(ref_.self, &out, e); });
    if (!r.ok()) return r.error();
    return from_abi(out);
  }

  // Runs work(client) on the storage's pool, then then(its result) on the strand.
  template <class Work, class Then>
  void run(Strand strand, Work work, Then then) const {
    host_->blocking(instance(), [self = *this, strand, work = std::move(work),
                                 then = std::move(then)]() mutable {
      auto result = std::make_shared<decltype(work(self))>(work(self));
      strand.post([result, then = std::move(then)]() mutable { then(std::move(*result)); });
    });
  }

  Result<Head> head() const {
    auto out = to_fill<davit_head>();
    auto r = checked([&](davit_error* e) { return vtable_->head(ref_.self, op_.abi(), &out, e); });
    if (!r.ok()) return r.error();
    return from_abi(out);
  }
  // The visitor gets the ABI record, so that it copies only what it needs. It returns false to
  // stop.
  template <class Visit>
  Result<Page> read(const ReadRequest& q, Visit visit) const {
    if (auto e = outside(q.scope)) return *e;
    const davit_scope scope{sizeof(davit_scope), 0, str(q.scope.kind), str(q.scope.region)};
    const davit_read request{
        sizeof(davit_read),
        q.limit,
        &scope,
        to_abi(q.cursor),
        q.dead_after.value(),
        q.bytes_max,
        (q.lingering ? DAVIT_READ_LINGERING : 0) | (q.no_payload ? DAVIT_READ_NO_PAYLOAD : 0),
        0};
    auto head = to_fill<davit_head>();
    auto page = to_fill<davit_page>();
    page.head = &head;
    Visitor visitor(std::move(visit));
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->read(ref_.self, op_.abi(), &request, visitor, &visitor, &page, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return Page{(page.flags & DAVIT_PAGE_MORE) != 0, Version(page.next_version), from_abi(head)};
  }
  template <class Visit>
  Result<Head> get(const Query& q, Visit visit) const {
    return get(GetRequest{{q}}, std::move(visit));
  }
  template <class Visit>
  Result<Head> get(const GetRequest& q, Visit visit) const {
    for (const Query& query : q.queries) {
      if (auto e = outside(query)) return *e;
    }
    const GetView view(q);
    auto out = to_fill<davit_head>();
    Visitor visitor(std::move(visit));
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->get(ref_.self, op_.abi(), &view.abi, visitor, &visitor, &out, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return from_abi(out);
  }
  Result<std::vector<GroupResult>> commit_now(const std::vector<Group>& groups) const;
  Result<> report_now(const std::vector<Status>& statuses) const {
    std::deque<StatusView> views;
    std::vector<const davit_status*> pointers;
    for (const auto& s : statuses) pointers.push_back(&views.emplace_back(s).abi);
    return checked([&](davit_error* e) {
      return vtable_->report(ref_.self, op_.abi(), pointers.data(), pointers.size(), e);
    });
  }
  template <class Visit>
  Result<StatusPage> statuses(const StatusRead& q, Visit visit) const {
    if (auto e = outside(q.scope)) return *e;
    const davit_scope scope{sizeof(davit_scope), 0, str(q.scope.kind), str(q.scope.region)};
    const davit_status_read request{
        sizeof(davit_status_read), q.limit, &scope, to_abi(q.cursor), q.bytes_max, 0, 0};
    auto head = to_fill<davit_head>();
    auto page = to_fill<davit_status_page>();
    page.head = &head;
    Visitor visitor(std::move(visit));
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->statuses(ref_.self, op_.abi(), &request, visitor, &visitor, &page, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return StatusPage{(page.flags & DAVIT_PAGE_MORE) != 0, from_abi(page.next), from_abi(head)};
  }
  Result<> progress(const Progress& p) const {
    if (auto e = outside(p)) return *e;
    const ProgressView v(p);
    return checked(
        [&](davit_error* e) { return vtable_->progress(ref_.self, op_.abi(), &v.abi, e); });
  }
  // One page of agents. Returns whether there are more.
  template <class Visit>
  Result<bool> agent_page(const AgentRead& q, Visit visit) const {
    if (auto e = outside(q)) return *e;
    const davit_agent_read request{sizeof(davit_agent_read), q.limit, str(q.region),
                                   str(q.after_region), str(q.after_agent)};
    auto page = to_fill<davit_agent_page>();
    Visitor visitor(std::move(visit));
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->agents(ref_.self, op_.abi(), &request, visitor, &visitor, &page, e);
        },
        visitor);
    if (!r.ok()) return r.error();
    return (page.flags & DAVIT_PAGE_MORE) != 0;
  }
  // All agents of the region (empty: of any), page by page.
  template <class Visit>
  Result<> agents(const std::string& region, Visit visit) const;
  Result<> maintain(const Maintain& m) const;
  // Empty: the backend gives no hints.
  Result<Watch> watch(davit_storage_hint hint, void* ctx) const {
    if (!DAVIT_HAS(vtable_, unwatch) || vtable_->watch == nullptr) return Watch();
    davit_storage_watch* made = nullptr;
    auto r =
        checked([&](davit_error* e) { return vtable_->watch(ref_.self, hint, ctx, &made, e); });
    if (!r.ok()) return r.error();
    return Watch(vtable_, ref_.self, made);
  }

  Result<History> history() const;

  // The host's commit queue: groups that wait are committed together. `done` runs on a pool thread.
  // What the caller no longer wants when its turn comes is not committed.
  void commit(const Group& group, std::function<void(GroupResult)> done) const;
  void report(const std::vector<Status>& statuses, std::function<void(Result<>)> done) const;

 private:
  // What an answer of the commit queue needs: the op lives until it comes.
  template <class T>
  struct Answer {
    std::function<void(T)> done;
    CallerOp op;
  };

  std::optional<Host> host_;
  davit_ref ref_{};
  const davit_storage* vtable_ = nullptr;
  const davit_commit* queue_ = nullptr;
  CallerOp op_;
};

}  // namespace davit::storage

#include "storage_calls.hpp"
