#include "settings.hpp"

namespace davit::secret_store {
namespace {

using namespace std::chrono_literals;

size_t count_of(int64_t value) {
  return static_cast<size_t>(value);
}

}  // namespace

StoreSettings StoreSettings::read(const Settings& s, const std::string& user_agent) {
  constexpr int64_t mebibyte = 1 << 20;
  StoreSettings out;
  http::Options usual;
  usual.user_agent = user_agent;
  out.target = http::read_target(s, usual);
  out.batch.items_max = count_of(s.integer("batch_items_max", 100, 1, 10'000));
  out.batch.bytes_max = count_of(s.integer("batch_bytes_max", mebibyte, 1'024, 256 * mebibyte));
  out.cache.lasts = s.milliseconds("cache_ms", 60s, 0);
  out.cache.entries_max = count_of(s.integer("cache_entries", 1'000, 0, 20'000));
  out.cache.bytes_max = count_of(s.integer("cache_bytes", 16 * mebibyte, 0, 1'024 * mebibyte));
  out.breaker.failures_max =
      static_cast<uint32_t>(s.integer("breaker_failures_max", 5, 1, 1'000'000));
  out.breaker.open_for = s.milliseconds("breaker_open_ms", 10s, 1);
  out.attempts_max = s.integer("attempts_max", 3, 1, 100);
  out.retry.first = s.milliseconds("retry_first_ms", 100ms, 1);
  out.retry.most = s.milliseconds("retry_most_ms", 2s, 1);
  if (out.retry.most < out.retry.first)
    s.reject("retry_most_ms", "must not be below retry_first_ms");
  out.open_calls_max = count_of(s.integer("open_calls_max", 10'000, 1, 10'000'000));
  return out;
}

std::string read_token_file(const Settings& s) {
  std::string file = s.string("token_file");
  if (s.has("token_file") && file.empty())
    s.reject("token_file", "must name a file, or credential:NAME");
  return file;
}

}  // namespace davit::secret_store
