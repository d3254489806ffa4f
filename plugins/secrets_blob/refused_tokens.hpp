// RefusedTokens knows for a short time which tokens the API server has refused, so that whoever
// tries one again and again does not have it asked each time. It keeps digests, never tokens. Pure:
// its user locks it.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <set>
#include <string_view>

namespace davit::secrets_blob {

class RefusedTokens {
 public:
  using Digest = std::array<unsigned char, 32>;  // SHA-256
  using Time = std::chrono::nanoseconds;
  static constexpr size_t tokens_max = 10'000;  // one more takes the place of the oldest

  explicit RefusedTokens(std::chrono::milliseconds lasts) : lasts_(lasts) {}

  static Digest digest_of(std::string_view token);

  void add(const Digest& token, Time now);
  bool has(const Digest& token, Time now);

 private:
  struct Refused {
    Time at;
    Digest token;
  };
  void forget_oldest();

  const Time lasts_;
  std::deque<Refused> in_order_;
  std::set<Digest> tokens_;
};

}  // namespace davit::secrets_blob
