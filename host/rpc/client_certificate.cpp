#include "client_certificate.hpp"

#include <algorithm>
#include <utility>

#include "certificate.hpp"
#include "core.hpp"
#include "services/log.hpp"

namespace davit::host {

ClientCertificate::ClientCertificate(const Core& core, const ClientSettings& s)
    : log_(core.log),
      name_(s.name),
      certificate_file_(s.certificate_file),
      key_file_(s.key_file),
      end_(core, "client", s.name, s.certificate_file) {}

void ClientCertificate::look() {
  const std::array now = {FileLook::of(certificate_file_), FileLook::of(key_file_)};
  const bool settled =
      std::all_of(now.begin(), now.end(), [](const auto& file) { return file && file->settled(); });
  if (!fault_.empty() || now != looked_ || !settled) {
    looked_ = now;
    const auto read = read_certificate(certificate_file_, key_file_);
    const std::string before = std::exchange(fault_, read.ok() ? "" : read.error().message);
    if (read.ok()) {
      end_.begins_with(read->expires);
    } else if (fault_ != before) {
      log_.warn("rpc", "certificate files cannot be used", {{"client", name_}, {"what", fault_}});
    }
  }
  end_.warn_when_near();
}

}  // namespace davit::host
