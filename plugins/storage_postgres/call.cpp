#include "call.hpp"

namespace davit::storage_postgres {

using namespace std::chrono_literals;

// The server stops a statement when the caller's time is over.
Patience Call::patience() const {
  Patience out{0ms, source_.settings.lock_timeout};
  if (op_.deadline_ns() == INT64_MAX) return out;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::nanoseconds(op_.deadline_ns()) - source_.host.now());
  out.statement = std::clamp(left + 1ms, 1ms, std::chrono::milliseconds(INT32_MAX));
  out.lock = std::min(out.lock, out.statement);
  return out;
}

StoreState Call::begin(Session::Kind kind) {
  while (true) {
    try {
      return try_begin(kind);
    } catch (const Fault& fault) {
      if (fault.kind() != Fault::Kind::lost || !session_ || !session_->used()) throw;
    }
    watch_.reset();
    session_.reset();
    source_.pool.forget_idle();
  }
}

StoreState Call::try_begin(Session::Kind kind) {
  if (auto over = given_up(op_, source_.host.now())) throw Fault(std::move(*over));
  auto lent = source_.pool.lend(op_);
  if (!lent.ok()) throw Fault(lent.error());
  session_.emplace(std::move(*lent));
  watch_.emplace(source_.watchman, session(), op_);
  return begin_on_store(session(), kind, patience());
}

void Call::end() {
  session().roll_back();
  watch_.reset();
  session_.reset();
}

}  // namespace davit::storage_postgres
