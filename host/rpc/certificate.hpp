// Certificate files, looked at before TLS uses them, so that an error says what is wrong with which
// file. What was looked at is what is handed on: a file may change in between.
#pragma once

#include <chrono>
#include <string>

#include <davit/types.hpp>

namespace davit::host {

struct CertificatePem {
  std::string certificate, key;
  std::chrono::system_clock::time_point expires;  // the first certificate of the chain
};

// The chain can be read, its first certificate is valid now and belongs to the key, and TLS takes
// both. FAILED_PRECONDITION with the file.
Result<CertificatePem> read_certificate(const std::string& certificate_file,
                                        const std::string& key_file);
// There is at least one certificate in the file, and nothing broken.
Result<std::string> read_ca(const std::string& ca_file);

// As messages have it: "2026-01-02T03:04:05Z".
std::string date(std::chrono::system_clock::time_point);

}  // namespace davit::host
