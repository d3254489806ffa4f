// Keys for tests that sign, and the other side's look at what was signed.
#pragma once

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <davit/base64.hpp>
#include <memory>
#include <string>

namespace davit::cluster_kubernetes {

using KeyPair = std::shared_ptr<EVP_PKEY>;

inline KeyPair rsa_key(size_t bits = 2'048) {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits), &EVP_PKEY_free};
}
inline KeyPair ec_key(const char* curve = "P-256") {
  return {EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve), &EVP_PKEY_free};
}

// The private key; with a password it is encrypted.
inline std::string pem_of(const KeyPair& key, const char* password = nullptr) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_PrivateKey(out.get(), key.get(), password == nullptr ? nullptr : EVP_aes_128_cbc(),
                           nullptr, 0, nullptr, const_cast<char*>(password));
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<size_t>(size)};
}

// The claims of a JWT whose signature is this key's; empty: it is not.
inline std::string claims_signed_by(const KeyPair& key, const std::string& jwt) {
  const size_t first = jwt.find('.'), last = jwt.rfind('.');
  if (first == std::string::npos || first == last) return {};
  std::string signature = from_base64(jwt.substr(last + 1)).value_or("");
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC) {
    if (signature.size() != 64) return {};
    const auto* bytes = reinterpret_cast<const unsigned char*>(signature.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> numbers(ECDSA_SIG_new(),
                                                                        &ECDSA_SIG_free);
    ECDSA_SIG_set0(numbers.get(), BN_bin2bn(bytes, 32, nullptr),
                   BN_bin2bn(bytes + 32, 32, nullptr));
    unsigned char* der = nullptr;
    const int size = i2d_ECDSA_SIG(numbers.get(), &der);
    signature.assign(reinterpret_cast<char*>(der), static_cast<size_t>(size));
    OPENSSL_free(der);
  }
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       &EVP_MD_CTX_free);
  EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get());
  const auto* text = reinterpret_cast<const unsigned char*>(jwt.data());
  const bool good =
      EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), text, last) == 1;
  return good ? from_base64(jwt.substr(first + 1, last - first - 1)).value_or("") : "";
}

}  // namespace davit::cluster_kubernetes
