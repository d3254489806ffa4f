// Tells of the end of the certificate that a client shows. The transport reads the files by itself,
// at each connection or when they change; this one looks at them beside it.
#pragma once

#include <optional>

#include "certificate_end.hpp"
#include "file_look.hpp"
#include "settings.hpp"

namespace davit::host {

class ClientCertificate {
 public:
  ClientCertificate(const Core&, const ClientSettings&);
  // Reads the certificate when its file has changed; warns once of one that cannot be used, and of
  // the end of one that can. At start and once a second; it may block.
  void look();

 private:
  Log& log_;
  const std::string name_, certificate_file_, key_file_;
  CertificateEnd end_;
  std::optional<FileLook> looked_;  // at what was read last
  bool refused_ = false;            // what was read last, and this was said
};

}  // namespace davit::host
