// The hints of a storage (abi/storage.h), for both ends. A backend keeps its watches in a Hints.
// Who watches a storage holds a Watch.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "types.hpp"

namespace davit::storage {

// `what` is made of DAVIT_HINT_...
using Hint = std::function<void(uint32_t what)>;

// The watches of a storage instance. [any]
class Hints {
 public:
  davit_storage_watch* watch(Hint hint) {
    auto made = std::make_unique<Hint>(std::move(hint));
    auto* handle = reinterpret_cast<davit_storage_watch*>(made.get());
    const std::lock_guard lock(mutex_);
    watches_.emplace(handle, std::move(made));
    return handle;
  }
  void unwatch(davit_storage_watch* handle) {
    const std::lock_guard lock(mutex_);
    watches_.erase(handle);
  }
  // Calls every hint, with the lock held: so unwatch waits for the one that runs.
  void tell(uint32_t what) {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, hint] : watches_) (*hint)(what);
  }

 private:
  std::mutex mutex_;
  std::map<davit_storage_watch*, std::unique_ptr<Hint>> watches_;
};

// A watch, which ends with this object. Empty: the storage gives no hints.
class Watch {
 public:
  Watch() = default;
  Watch(const davit_storage* table, davit_instance* self, davit_storage_watch* handle)
      : table_(table), self_(self), handle_(handle) {}
  Watch(Watch&& o) noexcept { *this = std::move(o); }
  Watch& operator=(Watch&& o) noexcept {
    std::swap(table_, o.table_);
    std::swap(self_, o.self_);
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Watch() { end(); }

  explicit operator bool() const { return handle_ != nullptr; }
  // After it no hint comes, and none runs.
  void end() {
    if (handle_ != nullptr) table_->unwatch(self_, std::exchange(handle_, nullptr));
  }

 private:
  const davit_storage* table_ = nullptr;
  davit_instance* self_ = nullptr;
  davit_storage_watch* handle_ = nullptr;
};

}  // namespace davit::storage
