// What the configuration says of a Vault: where it is, how long to wait for it, how much goes into
// one call, what is kept.
#pragma once

#include "batch.hpp"
#include "cache.hpp"
#include "davit/backoff.hpp"
#include "http/breaker.hpp"
#include "http/settings.hpp"

namespace davit::secrets_vault {

struct VaultSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static VaultSettings read(const Host& host);

  http::Target target;
  std::string token_file;
  Batch::Limits batch;
  Cache::Limits cache;
  http::Breaker::Rules breaker;
  Backoff::Limits retry;
  int64_t attempts_max = 3;
  size_t open_calls_max = 10'000;
};

}  // namespace davit::secrets_vault
