#include "refused_tokens.hpp"

#include <openssl/sha.h>

namespace davit::secrets_blob {

RefusedTokens::Digest RefusedTokens::digest_of(std::string_view token) {
  Digest out{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), out.data());
  return out;
}

void RefusedTokens::add(const Digest& token, Time now) {
  if (lasts_.count() == 0 || !tokens_.insert(token).second) return;
  in_order_.push_back({now, token});
  if (in_order_.size() > tokens_max) forget_oldest();
}

bool RefusedTokens::has(const Digest& token, Time now) {
  while (!in_order_.empty() && now - in_order_.front().at >= lasts_) forget_oldest();
  return tokens_.contains(token);
}

void RefusedTokens::forget_oldest() {
  tokens_.erase(in_order_.front().token);
  in_order_.pop_front();
}

}  // namespace davit::secrets_blob
