// What the configuration says of any secret store: where it is, how long to wait for it, how much
// goes into one call, what is kept.
#pragma once

#include "batch.hpp"
#include "cache.hpp"
#include "davit/backoff.hpp"
#include "http/breaker.hpp"
#include "http/settings.hpp"

namespace davit::secret_store {

// A file with a token is a setting of most of them.
std::string read_token_file(const Settings& settings);

struct StoreSettings {
  // Reads the settings and rejects what is wrong. Only in the plugin's constructor.
  static StoreSettings read(const Settings& settings, const std::string& user_agent);

  http::Target target;
  Batch::Limits batch;
  Cache::Limits cache;
  http::Breaker::Rules breaker;
  Backoff::Limits retry;
  int64_t attempts_max = 3;
  size_t open_calls_max = 10'000;
};

}  // namespace davit::secret_store
