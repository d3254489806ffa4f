// Reports in the log and in the health, once each, that the database begins to fail and that it
// works again. Reading and writing are separate, because reads go on while the disk is full. [any]
#pragma once

#include <atomic>
#include <mutex>

#include "davit/host.hpp"

namespace davit::storage_sqlite {

class Trouble {
 public:
  enum Doing { reading, writing };
  explicit Trouble(const Host& host) : host_(host) {}

  // `error` is NULL if the call succeeded. Errors of the caller (a cursor, a cancelled call) say
  // nothing about the database and are ignored.
  void note(Doing doing, const Error* error) {
    auto& failures = failures_[doing];
    if (error == nullptr) {
      if (failures.load(std::memory_order_relaxed) == 0) return;
      const uint64_t count = failures.exchange(0);
      if (count == 0) return;
      host_.info("database works again",
                 {{"doing", words[doing]}, {"failures", std::to_string(count)}});
      tell(doing, {});
    } else if (ours(error->code) && failures.fetch_add(1) == 0) {
      host_.error("database fails", {{"doing", words[doing]}, {"error", error->message}});
      tell(doing, error->message, error->code == Code::data_loss);
    }
  }

 private:
  // A database that cannot be read, or whose file is lost, is not serving. A full disk prevents
  // only changes.
  void tell(Doing doing, const std::string& reason, bool lost = false) {
    const std::lock_guard lock(mutex_);
    reasons_[doing] = reason;
    if (doing == writing) lost_ = lost;
    if (!reasons_[reading].empty()) {
      host_.health(DAVIT_HEALTH_NOT_SERVING, reasons_[reading]);
    } else if (!reasons_[writing].empty()) {
      host_.health(lost_ ? DAVIT_HEALTH_NOT_SERVING : DAVIT_HEALTH_DEGRADED, reasons_[writing]);
    } else {
      host_.health(DAVIT_HEALTH_SERVING);
    }
  }
  static constexpr const char* words[] = {"reading", "writing"};
  static bool ours(Code code) {
    return code == Code::resource_exhausted || code == Code::unavailable ||
           code == Code::data_loss || code == Code::internal || code == Code::failed_precondition;
  }
  const Host host_;
  std::atomic<uint64_t> failures_[2] = {0, 0};
  std::mutex mutex_;
  bool lost_ = false;       // the files that are written were removed or replaced
  std::string reasons_[2];  // why reading and writing fail; empty: it works
};

}  // namespace davit::storage_sqlite
