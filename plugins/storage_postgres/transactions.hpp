// How a Database asks the server: the transactions that its calls are made of. For its own files.
#pragma once

#include "database.hpp"
#include "numbering.hpp"

namespace davit::storage_postgres {

// A transaction that met another session's lock while it held the counters is tried anew, and then
// waits for that lock before it takes them.
constexpr int attempts_max = 20;

template <class Work>
auto Database::guarded(const Op& op, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Fault& fault) {
    const Error& error = fault.error();
    const bool by_caller = fault.kind() == Fault::Kind::lost ||
                           fault.kind() == Fault::Kind::stopped ||
                           fault.kind() == Fault::Kind::waited;
    if (by_caller) {
      if (auto over = given_up(op, host_.now())) return std::move(*over);
    }
    switch (error.code) {
      case Code::cancelled:
      case Code::deadline_exceeded:
      case Code::out_of_range:
      case Code::invalid_argument:
        return error;
      default:
        return for_log(error);
    }
  }
}

// The work asks within one snapshot, in which the incarnation goes on. What it returns is used
// after the transaction.
template <class Work>
auto Database::reading(const Op& op, Work work)
    -> Result<decltype(work(std::declval<Session&>(), std::declval<const Head&>()))> {
  return guarded(op, [&]() -> Result<decltype(work(std::declval<Session&>(), Head()))> {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      const Head seen = seen_.now();
      Call call(session_source_, op);
      const StoreState state = judged(call.begin(Session::Kind::read));
      if (!broken(state, seen).empty()) {
        call.end();
        renew(op);
        continue;
      }
      auto out = work(call.session(), state.head);
      call.end();
      seen_.note(state.head);
      return out;
    }
    throw Fault({Code::unavailable, "incarnations end faster than they can be read"});
  });
}

// A transaction that gives versions: first `prepare` does what may wait for others, then the row
// `store` is taken, then `work` does the rest and changes the head, and the row is written. `batch`
// is an id that the work writes, or empty.
template <class Prepare, class Work>
auto Database::writing(const Op& op, const std::string& batch, Prepare prepare, Work work)
    -> Result<decltype(work(std::declval<Session&>(), true, std::declval<Head&>()))> {
  return guarded(
      op, [&]() -> Result<decltype(work(std::declval<Session&>(), true, std::declval<Head&>()))> {
        for (int attempt = 1;; ++attempt) {
          const Head seen = seen_.now();
          Call call(session_source_, op);
          try {
            const StoreState before = judged(call.begin(Session::Kind::write));
            prepare(call.session(), before.head);
            StoreState state = judged(take_counters(call.session()));
            const bool unchanged = same(state.head, before.head);
            const std::string reason = broken_by(state, seen);
            if (!reason.empty()) begin_incarnation(call.session(), state, reason);
            Head head = state.head;
            auto out = work(call.session(), unchanged, head);
            if (same(head, state.head) && reason.empty()) return out;
            leave_counters(call.session(), head);
            end_commit(call, batch);
            seen_.note(head);
            if (!reason.empty()) {
              host_.info("a new incarnation begins",
                         {{"reason", reason},
                          {"incarnation", to_string(head.head.incarnation)},
                          {"head", to_string(head.head.version)}});
            }
            return out;
          } catch (const Fault& fault) {
            if (fault.kind() != Fault::Kind::conflict || attempt == attempts_max) throw;
          }
        }
      });
}

template <class Work>
Result<> Database::apart(const Op& op, Work work) {
  return guarded(op, [&]() -> Result<> {
    for (int attempt = 1;; ++attempt) {
      Call call(session_source_, op);
      try {
        (void)judged(call.begin(Session::Kind::write));
        work(call.session());
        call.watch().no_way_back();
        call.session().commit();
        return {};
      } catch (const Fault& fault) {
        if (fault.kind() != Fault::Kind::conflict || attempt == attempts_max) throw;
      }
    }
  });
}

}  // namespace davit::storage_postgres
