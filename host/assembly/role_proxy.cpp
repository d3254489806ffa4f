#include "role_proxy.hpp"

#include <algorithm>
#include <cstring>

namespace davit::host {
namespace {

// The first field of every table.
uint32_t size_of(const void* table) {
  return *static_cast<const uint32_t*>(table);
}

}  // namespace

RoleProxy::RoleProxy(const Contract& contract, const Party& who, davit_instance* self,
                     const void* table)
    : contract_(contract),
      who_(who),
      self_(self),
      table_(table),
      own_table_(std::make_unique<uint64_t[]>((contract.size + 7) / 8)) {
  auto* const own = reinterpret_cast<char*>(own_table_.get());
  std::memcpy(own, table, std::min<size_t>(contract.size, size_of(table)));
  const auto size = static_cast<uint32_t>(contract.size);
  std::memcpy(own, &size, sizeof size);
  for (const Slot& slot : contract.slots) {
    if (slot_in(table, slot) != nullptr)
      std::memcpy(own + slot.offset, &slot.forward, sizeof slot.forward);
  }
}

davit_ref RoleProxy::ref() const {
  return {reinterpret_cast<davit_instance*>(const_cast<RoleProxy*>(this)), own_table_.get(),
          str(who_.instance)};
}

std::optional<Error> misplaced(const RoleProxy& proxy, const char* slot) {
  const auto around = Step::around();
  if (!around || *around == Step::Kind::job) return std::nullopt;
  const auto here = Step::here();
  // A store calls its visitor, which is its caller's.
  const bool visits = *around == Step::Kind::blocking_call && here->caller != nullptr;
  const Party& caller = visits ? *here->caller : *here->who;
  return Error{Code::internal, "a fault of plugin \"" + caller.instance + "\": it calls " + slot +
                                   " of \"" + proxy.who().instance + "\", which may block, in " +
                                   here->text() + ": call it on a pool"};
}

bool RoleProxy::enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++inside_;
  return true;
}

void RoleProxy::leave() {
  const std::lock_guard lock(mutex_);
  if (--inside_ == 0 && closed_) left_.notify_all();
}

bool RoleProxy::close(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  return left_.wait_until(lock, deadline, [this] { return inside_ == 0; });
}

}  // namespace davit::host
