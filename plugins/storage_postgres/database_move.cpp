// The part of Database that copies stores (abi/storage_move.h).
#include "loading.hpp"
#include "presence.hpp"
#include "transactions.hpp"

namespace davit::storage_postgres {

Result<> Database::take(const Op& op, Presence how) {
  return guarded(op, [&]() -> Result<> {
    auto made = pool_.connect(op);
    if (!made.ok()) throw Fault(made.error());
    Session& session = **made;
    if (how == Presence::shared) {
      share_store(session, settings_.schema);
    } else {
      auto taken = take_store_alone(session, settings_.schema, Until::disconnected);
      if (!taken.ok()) throw Fault(taken.error());
    }
    presence_ = std::move(*made);
    return {};
  });
}

void Database::leave(const Op& op) {
  const auto session = std::move(presence_);
  if (!session) return;
  const Watchman::Watch watch(watchman_, *session, op);
  try {
    leave_store(*session);
  } catch (const Fault&) {
    // The server frees the lock when it notices that the connection has ended.
  }
}

Result<std::string> Database::begin_load(const Op& op, storage::LoadBegin how) {
  std::string note;
  auto r = apart(op, [&](Session& session) {
    auto alone = take_store_alone(session, settings_.schema, Until::transaction_ends);
    if (!alone.ok()) throw Fault(alone.error());
    note = begin_loading(session, how);
  });
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
