// ClientCertificate watches the certificate of one [rpc.client.NAME] to warn of its end. The
// transport reads the files itself, at each connection or when they change, so this class only
// observes.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "certificate_end.hpp"
#include "file_look.hpp"
#include "settings.hpp"

namespace davit::host {

class ClientCertificate {
 public:
  ClientCertificate(const Core&, const ClientSettings&);
  // Reads certificate and key if one of the files has changed, or if they could not be used. Warns
  // why they cannot be used, whenever that changes, and once if the certificate expires soon. Call
  // it at start and once a second. May block.
  void look();

 private:
  Log& log_;
  const std::string name_, certificate_file_, key_file_;
  CertificateEnd end_;
  // At certificate and key, when they were read last.
  std::array<std::optional<FileLook>, 2> looked_;
  std::string fault_;  // of the last read, as it was logged; empty: there was none
};

}  // namespace davit::host
