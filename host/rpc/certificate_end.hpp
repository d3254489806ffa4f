// CertificateEnd publishes when a certificate of this process expires: as a metric, and as one
// warning from 30 days before. ServerCertificate and ClientCertificate have one each. One thread at
// a time.
#pragma once

#include <chrono>
#include <string>

struct davit_metric;

namespace davit::host {

struct Core;
class Log;

class CertificateEnd {
 public:
  // For [rpc.ROLE.NAME], where `role` is "server" or "client". `file` contains the certificate. If
  // `file` is empty, there is no certificate and no metric.
  CertificateEnd(const Core&, std::string role, std::string name, std::string file);

  // The certificate in use now expires at `end`.
  void begins_with(std::chrono::system_clock::time_point end);
  std::chrono::system_clock::time_point at() const { return at_; }
  // Logs the warning once for each certificate.
  void warn_when_near();

 private:
  Log& log_;
  const std::string role_, name_, file_;
  davit_metric* const metric_;
  std::chrono::system_clock::time_point at_ = std::chrono::system_clock::time_point::max();
  bool said_ = false;
};

}  // namespace davit::host
