#include "credential_cache.hpp"

namespace davit::cluster_kubernetes {

bool CredentialCache::usable(Time now, int64_t unix_ms) const {
  const bool lives = !expires_unix_ms_ || unix_ms < *expires_unix_ms_;
  return there_ && !refused_ && (lives || now - made_at_ < lives_at_least);
}

CredentialCache::Say CredentialCache::ask(Time now, int64_t unix_ms) const {
  const bool may_run = !running_ && now >= failed_until_;
  if (usable(now, unix_ms)) {
    const bool due = renew_unix_ms_ && unix_ms >= *renew_unix_ms_;
    return due && may_run && now - made_at_ >= lives_at_least ? Say::renew : Say::use;
  }
  if (running_) return Say::wait;
  return may_run ? Say::run : Say::fail;
}

void CredentialCache::made(Time now, const Credential& credential) {
  running_ = refused_ = false;
  there_ = true;
  made_at_ = now;
  expires_unix_ms_ = credential.expires_unix_ms;
  renew_unix_ms_ = credential.renew_unix_ms;
  failed_until_ = {};
  failures_.reset();
}

void CredentialCache::failed(Time now, uint64_t random, std::chrono::milliseconds retry_after) {
  running_ = false;
  failed_until_ = now + failures_.next(random, retry_after);
}

void CredentialCache::accepted() {
  refusals_.reset();
  trusted_until_ = {};
}

// The first refusal counts at once. When the next credential is refused, too, the fault is mostly
// not the credential's.
bool CredentialCache::refused(Time now, uint64_t random) {
  if (running_) refused_ = there_;  // the one that is made now is waited for
  if (running_ || refused_) return true;
  if (now < trusted_until_) return false;
  refused_ = true;
  trusted_until_ = now + refusals_.next(random);
  return true;
}

}  // namespace davit::cluster_kubernetes
