#include "certificate.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "system_words.hpp"

namespace davit::host {

namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* p) const {
    free(p);
  }
};
using File = std::unique_ptr<FILE, Free<&std::fclose>>;
using Bio = std::unique_ptr<BIO, Free<&BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<&EVP_PKEY_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<&SSL_CTX_free>>;
using Clock = std::chrono::system_clock;

Error bad(const std::string& file, const std::string& what) {
  ERR_clear_error();
  return {Code::failed_precondition, file + ": " + what};
}

Result<std::string> content_of(const std::string& path) {
  constexpr size_t bytes_max = 1u << 20;  // a bundle of all public authorities has 256 KiB
  const File file(std::fopen(path.c_str(), "re"));
  if (!file) return bad(path, system_words(errno));
  std::string out(bytes_max + 1, '\0');
  out.resize(std::fread(out.data(), 1, out.size(), file.get()));
  if (std::ferror(file.get()) != 0) return bad(path, system_words(errno));
  if (out.size() > bytes_max) return bad(path, "larger than 1 MiB");
  return out;
}

// Reads all certificates of a file. No certificate is an error.
Result<std::vector<Certificate>> chain_of(const std::string& path, const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> out;
  ERR_clear_error();
  while (X509* x = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) out.emplace_back(x);
  if (out.empty()) return bad(path, "not a PEM certificate");
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return bad(path, "certificate " + std::to_string(out.size() + 1) + " in it cannot be read");
  }
  ERR_clear_error();
  return out;
}

Clock::time_point time_of(const ASN1_TIME* time) {
  std::tm tm{};
  return ASN1_TIME_to_tm(time, &tm) == 1 ? Clock::from_time_t(timegm(&tm)) : Clock::time_point();
}

// Keeps OpenSSL from asking a terminal for the password of an encrypted key.
int no_password(char*, int, int, void*) {
  return -1;
}

// Whether TLS accepts the certificate and the key. It refuses a key that is too short, for example.
Result<> try_in_tls(X509* certificate, EVP_PKEY* key, const std::string& file) {
  const Context context(SSL_CTX_new(TLS_method()));
  if (SSL_CTX_use_certificate(context.get(), certificate) == 1 &&
      SSL_CTX_use_PrivateKey(context.get(), key) == 1) {
    return {};
  }
  const char* why = ERR_reason_error_string(ERR_peek_last_error());
  return bad(file, std::string("TLS does not take it: ") + (why != nullptr ? why : "unknown"));
}

}  // namespace

std::string date(Clock::time_point time) {
  const std::time_t seconds = Clock::to_time_t(time);
  std::tm tm{};
  char text[32] = "?";
  if (gmtime_r(&seconds, &tm) != nullptr) std::strftime(text, sizeof text, "%FT%TZ", &tm);
  return text;
}

Result<CertificatePem> read_certificate(const std::string& certificate_file,
                                        const std::string& key_file) {
  auto certificate = content_of(certificate_file);
  if (!certificate.ok()) return certificate.error();
  const auto chain = chain_of(certificate_file, *certificate);
  if (!chain.ok()) return chain.error();
  X509* first = chain->front().get();
  const auto begins = time_of(X509_get0_notBefore(first));
  const auto expires = time_of(X509_get0_notAfter(first));
  if (expires < Clock::now())
    return bad(certificate_file, "certificate expired on " + date(expires) + ": renew it");
  if (begins > Clock::now())
    return bad(certificate_file, "certificate is not valid before " + date(begins));
  auto pem = content_of(key_file);
  if (!pem.ok()) return pem.error();
  const Bio bio(BIO_new_mem_buf(pem->data(), static_cast<int>(pem->size())));
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_password, nullptr));
  if (!key) return bad(key_file, "not a PEM private key without a password");
  if (X509_check_private_key(first, key.get()) != 1)
    return bad(key_file, "the key does not belong to " + certificate_file);
  if (auto r = try_in_tls(first, key.get(), certificate_file); !r.ok()) return r.error();
  return CertificatePem{std::move(*certificate), std::move(*pem), expires};
}

Result<std::string> read_ca(const std::string& ca_file) {
  auto pem = content_of(ca_file);
  if (!pem.ok()) return pem;
  const auto chain = chain_of(ca_file, *pem);
  if (!chain.ok()) return chain.error();
  return pem;
}

}  // namespace davit::host
