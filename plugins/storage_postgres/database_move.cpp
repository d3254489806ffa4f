// The part of Database that copies stores (abi/storage_move.h).
#include "loading.hpp"
#include "transactions.hpp"

namespace davit::storage_postgres {

Result<> Database::look_for_others(const Op& op) {
  return apart(op, [&](Session& session) {
    const std::string lock = presence_query("pg_try_advisory_xact_lock_shared", settings_.schema);
    if (!session.script(lock)[0][0].as<bool>())
      throw Fault(
          {Code::unavailable, "`davit storage copy` has the store for itself: wait for it"});
  });
}

Result<> Database::take_alone(const Op& op) {
  return guarded(op, [&]() -> Result<> {
    auto made = pool_.connect(op);
    if (!made.ok()) throw Fault(made.error());
    const std::string lock = presence_query("pg_try_advisory_lock", settings_.schema);
    if (!(*made)->script(lock)[0][0].as<bool>())
      throw Fault({Code::unavailable, "a davit works with the store: stop it first"});
    alone_ = std::move(*made);
    return {};
  });
}

Result<std::string> Database::begin_load(const Op& op, storage::LoadBegin how) {
  std::string note;
  auto r = take_alone(op);
  if (r.ok()) r = apart(op, [&](Session& session) { note = begin_loading(session, how); });
  alone_.reset();
  if (!r.ok()) return r.error();
  return note;
}

Result<> Database::load(const Op& op, const storage::Load& what) {
  return apart(op, [&](Session& session) { storage_postgres::load(session, what); });
}

Result<> Database::finish_load(const Op& op, const storage::LoadEnd& end) {
  auto r = apart(op, [&](Session& session) { finish_loading(session, end); });
  if (r.ok()) loads_ = false;
  return r;
}

}  // namespace davit::storage_postgres
