#include "settings.hpp"

#include <davit/kubernetes/names.hpp>

namespace davit::secrets_blob {
namespace {

using namespace std::chrono_literals;

size_t count(const Settings& s, std::string_view key, int64_t usual, int64_t min, int64_t max) {
  return static_cast<size_t>(s.integer(key, usual, min, max));
}

std::vector<std::string> read_audiences(const Settings& s) {
  auto out = s.strings("audiences");
  for (const std::string& one : out) {
    if (one.empty()) s.reject("audiences", "an audience is empty");
  }
  return out;
}

}  // namespace

BlobSettings BlobSettings::read(const Host& host) {
  const Settings s(host);
  constexpr int64_t mebibyte = 1 << 20, calls = 1'000'000;
  BlobSettings out;
  out.cluster = s.string("cluster");
  out.secrets = s.string("secrets");
  out.audiences = read_audiences(s);
  out.label_prefix = s.string("label_prefix", "unkey.com/");
  if (auto fault = kubernetes::label_prefix_fault(out.label_prefix))
    s.reject("label_prefix", *fault);
  out.timeout = s.milliseconds("timeout_ms", 10s, 1);
  out.refused_for = s.milliseconds("refused_token_ms", 10s, 0, 600'000);
  out.blob_bytes_max = count(s, "blob_bytes_max", mebibyte, 2, 64 * mebibyte);
  out.token_bytes_max = count(s, "token_bytes_max", 8'192, 256, mebibyte);
  out.variables_max = count(s, "variables_max", 1'000, 1, 1'000'000);
  out.calls_max = count(s, "calls_max", 200, 2, calls);
  out.calls_per_address_max = count(s, "calls_per_address_max", 8, 1, calls);
  out.calls_per_namespace_max = count(s, "calls_per_namespace_max", 50, 1, calls);
  out.reviews.per_second = count(s, "reviews_per_second", 50, 1, calls);
  out.reviews.per_second_per_address = count(s, "reviews_per_second_per_address", 5, 1, calls);
  return out;
}

uint32_t BlobSettings::request_bytes_max() const {
  constexpr size_t names_and_ids = 4'096;
  return static_cast<uint32_t>(blob_bytes_max / 3 * 4 + token_bytes_max + names_and_ids);
}

}  // namespace davit::secrets_blob
