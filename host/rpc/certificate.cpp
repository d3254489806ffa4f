#include "certificate.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

#include "bind_error.hpp"

namespace davit::host {

namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;
using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;

Error bad(const std::string& file, const std::string& what) {
  ERR_clear_error();
  return {Code::failed_precondition, file + ": " + what, {}, {}};
}

Result<File> open(const std::string& path) {
  File file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) return bad(path, system_words(errno));
  return file;
}

std::string date_of(const ASN1_TIME* time) {
  std::tm tm{};
  char text[32] = "?";
  if (ASN1_TIME_to_tm(time, &tm) == 1) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  return text;
}

Result<Certificate> read_certificate(const std::string& path) {
  auto file = open(path);
  if (!file.ok()) return file.error();
  Certificate certificate(PEM_read_X509(file->get(), nullptr, nullptr, nullptr), &X509_free);
  if (!certificate) return bad(path, "not a PEM certificate");
  return certificate;
}

// An encrypted key must not ask a terminal for its password.
int no_password(char*, int, int, void*) {
  return -1;
}

}  // namespace

Result<> check_certificate(const std::string& certificate_file, const std::string& key_file) {
  const auto certificate = read_certificate(certificate_file);
  if (!certificate.ok()) return certificate.error();
  const X509* x = certificate->get();
  if (X509_cmp_current_time(X509_get0_notAfter(x)) < 0) {
    return bad(certificate_file, "certificate expired on " + date_of(X509_get0_notAfter(x)));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(x)) > 0) {
    return bad(certificate_file,
               "certificate is not valid before " + date_of(X509_get0_notBefore(x)));
  }
  auto file = open(key_file);
  if (!file.ok()) return file.error();
  const Key key(PEM_read_PrivateKey(file->get(), nullptr, &no_password, nullptr), &EVP_PKEY_free);
  if (!key) return bad(key_file, "not a PEM private key without a password");
  if (X509_check_private_key(x, key.get()) != 1) {
    return bad(key_file, "the key does not belong to " + certificate_file);
  }
  return {};
}

Result<> check_ca(const std::string& ca_file) {
  const auto certificate = read_certificate(ca_file);
  if (!certificate.ok()) return certificate.error();
  return {};
}

}  // namespace davit::host
