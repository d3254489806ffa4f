// The watches of the naive store, and their faults.
#pragma once

#include <atomic>
#include <thread>

#include "davit/storage.hpp"

namespace davit::storage_naive {

class FaultyHints {
 public:
  explicit FaultyHints(std::string fault) : fault_(std::move(fault)) {}
  ~FaultyHints() {
    if (later_.joinable()) later_.join();
  }
  FaultyHints(const FaultyHints&) = delete;
  FaultyHints& operator=(const FaultyHints&) = delete;

  davit_storage_watch* watch(storage::Hint hint) {
    const std::lock_guard lock(mutex_);
    if (fault_ == "one_watch" && !watches_.empty()) hints_.unwatch(watches_.back());
    watches_.push_back(hints_.watch(std::move(hint)));
    return watches_.back();
  }
  void unwatch(davit_storage_watch* watch) {
    if (fault_ == "end_does_not_wait" && telling_ > 0) {
      later_ = std::thread([this, watch] { hints_.unwatch(watch); });
      return;
    }
    if (fault_ == "ends_late") {
      const std::lock_guard lock(mutex_);
      late_.push_back(watch);
      return;
    }
    if (fault_ == "ends_all_watches") {
      const std::lock_guard lock(mutex_);
      for (auto* any : watches_) hints_.unwatch(any);
    }
    hints_.unwatch(watch);
  }
  void tell(uint32_t what) {
    ++telling_;
    hints_.tell(what);
    --telling_;
    const std::lock_guard lock(mutex_);
    for (auto* watch : late_) hints_.unwatch(watch);
    late_.clear();
  }

 private:
  const std::string fault_;
  storage::Hints hints_;
  std::mutex mutex_;
  std::vector<davit_storage_watch*> watches_, late_;
  std::atomic<int> telling_{0};
  std::thread later_;
};

}  // namespace davit::storage_naive
