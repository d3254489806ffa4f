// Reads and checks certificate files before TLS uses them, so that an error names the file and its
// fault. Users pass on the text that was checked and do not read the file again: it may change in
// between. Used by ServerCertificate, ClientCertificate, Caller and client_tls.
#pragma once

#include <chrono>
#include <string>

#include <davit/types.hpp>

namespace davit::host {

struct CertificatePem {
  std::string certificate, key;
  std::chrono::system_clock::time_point expires;  // of the first certificate in the file
};

// Reads a certificate chain and its key. It checks that the first certificate is valid now, that it
// belongs to the key, and that TLS accepts both. FAILED_PRECONDITION with the name of the file.
Result<CertificatePem> read_certificate(const std::string& certificate_file,
                                        const std::string& key_file);
// Reads authority certificates. It checks that the file contains at least one and that all can be
// read. FAILED_PRECONDITION with the name of the file.
Result<std::string> read_ca(const std::string& ca_file);

// UTC, as messages show it: "2026-01-02T03:04:05Z".
std::string date(std::chrono::system_clock::time_point);

}  // namespace davit::host
