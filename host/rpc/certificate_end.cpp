#include "certificate_end.hpp"

#include <davit/types.hpp>

#include "certificate.hpp"
#include "core.hpp"
#include "services/log.hpp"
#include "services/metrics.hpp"

namespace davit::host {

namespace {

// Leaves a person enough time. Automatic renewals usually happen a month before the end.
constexpr std::chrono::hours near{30 * 24};

davit_metric* metric_of(const Core& core, const std::string& role, const std::string& name,
                        const std::string& file) {
  if (file.empty()) return nullptr;
  const davit_pair whose{str(role), str(name)};
  return core.metrics.metric(DAVIT_GAUGE, "davit_rpc_certificate_not_after_timestamp_seconds",
                             "when the certificate ends, in seconds since 1970", &whose, 1);
}

}  // namespace

CertificateEnd::CertificateEnd(const Core& core, std::string role, std::string name,
                               std::string file)
    : log_(core.log),
      role_(std::move(role)),
      name_(std::move(name)),
      file_(std::move(file)),
      metric_(metric_of(core, role_, name_, file_)) {}

void CertificateEnd::begins_with(std::chrono::system_clock::time_point end) {
  if (at_ == end) return;
  at_ = end;
  said_ = false;
  Metrics::set(metric_, static_cast<double>(std::chrono::system_clock::to_time_t(end)));
}

void CertificateEnd::warn_when_near() {
  if (said_ || std::chrono::system_clock::now() < at_ - near) return;
  said_ = true;
  log_.warn("rpc", "certificate ends soon: renew it",
            {{role_, name_}, {"file", file_}, {"expires", date(at_)}});
}

}  // namespace davit::host
