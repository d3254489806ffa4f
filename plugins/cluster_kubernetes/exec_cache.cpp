#include "exec_cache.hpp"

namespace davit::cluster_kubernetes {

ExecCache::Say ExecCache::ask(Time now, int64_t unix_ms) const {
  if (running_) return Say::wait;
  const bool lives = !expires_unix_ms_ || unix_ms < *expires_unix_ms_;
  if (there_ && !refused_ && (lives || now - made_at_ < lives_at_least)) return Say::use;
  return now < failed_until_ ? Say::fail : Say::run;
}

void ExecCache::made(Time now, std::optional<int64_t> expires_unix_ms) {
  running_ = refused_ = false;
  there_ = true;
  made_at_ = now;
  expires_unix_ms_ = expires_unix_ms;
  failed_until_ = {};
  failures_.reset();
}

void ExecCache::failed(Time now, uint64_t random) {
  running_ = false;
  failed_until_ = now + failures_.next(random);
}

void ExecCache::accepted() {
  refusals_.reset();
  trusted_until_ = {};
}

// The first refusal counts at once. When the next credential is refused, too, the fault is mostly
// not the credential's.
bool ExecCache::refused(Time now, uint64_t random) {
  if (running_ || refused_) return true;
  if (now < trusted_until_) return false;
  refused_ = true;
  trusted_until_ = now + refusals_.next(random);
  return true;
}

}  // namespace davit::cluster_kubernetes
