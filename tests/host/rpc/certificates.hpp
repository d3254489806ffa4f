// A certificate authority of the test's own, made with the openssl program.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <string>

#include "rig.hpp"

namespace davit::host {

class Authority {
 public:
  Authority(const Folder& folder, const std::string& name) : folder_(folder), name_(name) {
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
        name + " -keyout " + key() + " -out " + certificate());
  }
  std::string certificate() const { return folder_.path(name_ + ".crt"); }

  // NAME.crt and NAME.key for localhost, 127.0.0.1 and ::1. Less than no days: it was valid
  // yesterday.
  void issue(const std::string& to, int days = 1) const {
    const std::string request = folder_.path(to + ".csr"), extensions = folder_.path(to + ".ext");
    folder_.write(to + ".ext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n");
    run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + to +
        " -keyout " + folder_.path(to + ".key") + " -out " + request);
    const std::string sign = "openssl x509 -req -in " + request + " -CA " + certificate() +
                             " -CAkey " + key() + " -CAcreateserial -extfile " + extensions +
                             " -out " + folder_.path(to + ".crt");
    run(sign + " -days " + std::to_string(days));
  }
  // The certificate ends that many seconds from now: the program knows days only.
  void end_soon(const std::string& of, int seconds) const { set(of, &X509_getm_notAfter, seconds); }
  // The certificate begins that many seconds from now.
  void begin_soon(const std::string& of, int seconds) const {
    set(of, &X509_getm_notBefore, seconds);
  }

 private:
  void set(const std::string& of, ASN1_TIME* (*time)(const X509*), int seconds) const {
    X509* certificate = read<X509>(folder_.path(of + ".crt"), &PEM_read_X509);
    EVP_PKEY* signer = read<EVP_PKEY>(key(), &PEM_read_PrivateKey);
    X509_gmtime_adj(time(certificate), seconds);
    EXPECT_GT(X509_sign(certificate, signer, EVP_sha256()), 0);
    FILE* out = std::fopen(folder_.path(of + ".crt").c_str(), "we");
    EXPECT_EQ(PEM_write_X509(out, certificate), 1);
    std::fclose(out);
    X509_free(certificate);
    EVP_PKEY_free(signer);
  }
  template <class T>
  static T* read(const std::string& path, T* (*of)(FILE*, T**, pem_password_cb*, void*)) {
    FILE* file = std::fopen(path.c_str(), "re");
    EXPECT_NE(file, nullptr) << path;
    T* out = of(file, nullptr, nullptr, nullptr);
    std::fclose(file);
    return out;
  }
  std::string key() const { return folder_.path(name_ + ".key"); }
  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
  }
  const Folder& folder_;
  std::string name_;
};

}  // namespace davit::host
