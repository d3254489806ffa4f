#include "pem.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

namespace davit::cluster_kubernetes {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio reader(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

// The next certificate; NULL: there is none, or it cannot be read.
Certificate next(BIO* from) {
  return {PEM_read_bio_X509(from, nullptr, nullptr, nullptr), &X509_free};
}

size_t count(std::string_view text, std::string_view of) {
  size_t out = 0;
  for (size_t at = text.find(of); at != std::string_view::npos; at = text.find(of, at + 1)) ++out;
  return out;
}

bool certificates_are_whole(std::string_view text) {
  const Bio from = reader(text);
  size_t read = 0;
  while (next(from.get())) ++read;
  ERR_clear_error();
  return read > 0 && read == count(text, "-----BEGIN CERTIFICATE-----") +
                                 count(text, "-----BEGIN TRUSTED CERTIFICATE-----") +
                                 count(text, "-----BEGIN X509 CERTIFICATE-----");
}

// A key that is encrypted is not judged: nobody can say its password.
bool belong_together(std::string_view certificate, std::string_view key) {
  if (key.find("ENCRYPTED") != std::string_view::npos) return true;
  const Bio certificate_text = reader(certificate);
  const Certificate first = next(certificate_text.get());
  const Bio key_text = reader(key);
  const Key own(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  const bool fits = first && own && X509_check_private_key(first.get(), own.get()) == 1;
  ERR_clear_error();
  return fits;
}

Error unusable(const char* message) {
  return {Code::failed_precondition, message};
}

}  // namespace

Result<> check_pem(const Access& access) {
  if (!access.ca.empty() && !certificates_are_whole(access.ca))
    return unusable("the certificate authority is no whole certificate");
  if (access.certificate.empty()) return {};
  if (!certificates_are_whole(access.certificate))
    return unusable("the client certificate is no whole certificate");
  if (!belong_together(access.certificate, access.key.view()))
    return unusable("the client key is not that of the client certificate");
  return {};
}

}  // namespace davit::cluster_kubernetes
