// What the recorder makes of agents' reports: status envelopes, progress, and the header that a
// ctrl.v1 report may bring.
#include <davit/v1/agent.pb.h>

#include "choice.hpp"
#include "envelope.hpp"
#include "require.hpp"

namespace {

using namespace davit;

constexpr int64_t now_unix_ms = 1'700'000'000'000;

void check(const Status& status) {
  fuzz::require(
      status.desired >= 0 && status.updated >= 0 && status.ready >= 0 && status.stale >= 0,
      "no count is negative");
  fuzz::require(!status.health.empty(), "a health is always said");
  const StatusView view(status);
  fuzz::require(from_abi(view.abi).key == status.key, "a status crosses the boundary whole");
}

void on_report(std::string_view bytes) {
  v1::ReportRequest message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  for (const auto& s : message.statuses()) {
    const auto status = recorder::from_wire(s, "us-east-1", now_unix_ms);
    if (!fuzz::no_bug(status, "status").ok()) continue;
    check(*status);
    fuzz::require(status->key.region == "us-east-1", "a status stays in the region of its call");
  }
}

void on_progress(std::string_view bytes) {
  v1::ProgressRequest message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const Progress progress = recorder::from_wire(message, "us-east-1", now_unix_ms);
  fuzz::require(progress.region == "us-east-1", "progress stays in the region of its call");
  fuzz::require(progress.issues.size() == static_cast<size_t>(message.issues_size()),
                "no issue is lost");
}

void on_header(std::string_view header) {
  Status status;
  status.health = "unknown";
  recorder::apply_observed_header(header, status);
  check(status);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  if (entry == "davit.v1.ReportRequest") on_report(rest);
  if (entry == "davit.v1.ProgressRequest") on_progress(rest);
  if (entry == "header") on_header(rest);
  return 0;
}
