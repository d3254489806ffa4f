#include "server_certificate.hpp"

#include <algorithm>
#include <utility>

#include "core.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

// Whether `before` contains a certificate that `now` does not. Both are PEM files.
bool lacks_one_of(std::string_view now, std::string_view before) {
  constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view end = "-----END CERTIFICATE-----";
  for (size_t at = before.find(begin); at != std::string_view::npos; at = before.find(begin, at)) {
    const size_t to = before.find(end, at);
    if (now.find(before.substr(at, to - at)) == std::string_view::npos) return true;
    at = to;
  }
  return false;
}

}  // namespace

ServerCertificate::ServerCertificate(const Core& core, const ServerSettings& s)
    : settings_(s), log_(core.log), end_(core, "server", s.name, s.certificate_file) {}

ServerCertificate::Looks ServerCertificate::looks() const {
  Looks out = {FileLook::of(settings_.certificate_file), FileLook::of(settings_.key_file), {}};
  if (!settings_.client_ca_file.empty()) out[2] = FileLook::of(settings_.client_ca_file);
  return out;
}

// Takes the looks before it reads, so a change in between leads to another read.
Result<bool> ServerCertificate::read() {
  looks_ = looks();
  settled_ = std::all_of(looks_.begin(), looks_.end(),
                         [](const auto& look) { return !look || look->settled(); });
  auto certificate = read_certificate(settings_.certificate_file, settings_.key_file);
  if (!certificate.ok()) return certificate.error();
  std::string client_ca;
  if (!settings_.client_ca_file.empty()) {
    auto ca = read_ca(settings_.client_ca_file);
    if (!ca.ok()) return ca.error();
    client_ca = std::move(*ca);
  }
  if (pem_.certificate == certificate->certificate && pem_.key == certificate->key &&
      pem_.client_ca == client_ca)
    return false;
  end_.begins_with(certificate->expires);
  const std::lock_guard lock(mutex_);
  withdrawn_ = withdrawn_ || lacks_one_of(client_ca, pem_.client_ca);
  pem_ = {std::move(certificate->certificate), std::move(certificate->key), std::move(client_ca)};
  fresh_ = true;
  return true;
}

Result<> ServerCertificate::load() {
  const std::lock_guard reading(files_);
  const auto r = read();
  if (!r.ok()) return r.error();
  end_.warn_when_near();
  return {};
}

void ServerCertificate::look() {
  const std::lock_guard reading(files_);
  // A failure may pass without a change of a file: a certificate begins, or descriptors are free.
  if (!fault_.empty() || looks() != looks_ || !settled_) {
    const auto r = read();
    const std::string before = std::exchange(fault_, r.ok() ? "" : r.error().message);
    if (!r.ok() && fault_ != before) {
      log_.warn("rpc", "certificate files cannot be used; what was read before stays",
                {{"server", settings_.name}, {"what", fault_}});
    } else if (r.ok() && (!before.empty() || *r)) {
      log_.info("rpc", "certificate files read",
                {{"server", settings_.name}, {"expires", date(end_.at())}});
    }
  }
  end_.warn_when_near();
}

bool ServerCertificate::has_withdrawn() {
  const std::lock_guard lock(mutex_);
  return std::exchange(withdrawn_, false);
}

End ServerCertificate::withdrawn() {
  return {Code::unauthenticated,
          "an authority of client certificates is not believed any more; connect again"};
}

std::optional<ServerCertificate::Pem> ServerCertificate::take() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(fresh_, false)) return std::nullopt;
  return pem_;
}

}  // namespace davit::host
