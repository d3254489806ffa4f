// When a certificate of ours ends: a metric, and a warning while there is time to renew it. One
// thread at a time.
#pragma once

#include <chrono>
#include <string>

struct davit_metric;

namespace davit::host {

struct Core;
class Log;

class CertificateEnd {
 public:
  // Of [rpc.ROLE.NAME], which shows the certificate in `file`; `role` is "server" or "client". An
  // empty file: it shows none, and nothing is said.
  CertificateEnd(const Core&, std::string role, std::string name, std::string file);

  // Another certificate is shown from now on.
  void begins_with(std::chrono::system_clock::time_point end);
  std::chrono::system_clock::time_point at() const { return at_; }
  // Warns once for each certificate.
  void warn_when_near();

 private:
  Log& log_;
  const std::string role_, name_, file_;
  davit_metric* const metric_;
  std::chrono::system_clock::time_point at_ = std::chrono::system_clock::time_point::max();
  bool said_ = false;
};

}  // namespace davit::host
