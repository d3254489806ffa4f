// OperatorService/Maintain: one round of Maintenance at an operator's request.
#include <davit/v1/operator.pb.h>

#include "page_token.hpp"
#include "shared.hpp"

namespace davit::desired {

namespace {

constexpr uint64_t retention_ms_max = 10ULL * 366 * 86'400'000;

std::string report_to_wire(const Maintenance::Report& report) {
  v1::MaintainResponse out;
  out.set_purged_through(report.purged_through.value());
  out.set_tombstones(report.count);
  out.set_agents_forgotten(report.agents_forgotten);
  if (report.hold) {
    out.set_held_by(report.hold->by);
    out.set_held_version(report.hold->version.value());
    out.set_held_committed_at_unix_ms(report.hold->committed_at_unix_ms);
    out.set_region(report.hold->region);
    out.set_agent(report.hold->agent);
  }
  if (report.more) out.set_resume_token(to_token(report.next));
  return out.SerializeAsString();
}

Result<Maintenance::Request> request_of(const v1::MaintainRequest& message) {
  auto from = from_token(message.resume_token());
  if (!from.ok()) return Error{from.error().code, from.error().message, "resume_token"};
  Maintenance::Request out{message.dry_run(), {}, *from};
  if (!message.has_retention_ms()) return out;
  if (message.retention_ms() > retention_ms_max)
    return Error{Code::invalid_argument, "is more than ten years", "retention_ms"};
  out.retention = std::chrono::milliseconds(message.retention_ms());
  return out;
}

}  // namespace

Result<> serve_maintain(Shared& shared, const rpc::Server& server) {
  return server.unary(
      method("Maintain", "MaintainRequest", "MaintainResponse"),
      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        v1::MaintainRequest message;
        if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
        auto asked = request_of(message);
        if (!asked.ok()) return reply(asked.error());
        shared.host.blocking(
            shared.storage.instance(),
            [&shared, storage = shared.storage.under(call.operation()), asked = *asked,
             reply = std::move(reply), ticket = shared.outstanding.begin()] {
              auto report = shared.maintenance.round(asked, storage);
              if (!report.ok()) return reply(report.error());
              reply(report_to_wire(*report));
            });
      });
}

}  // namespace davit::desired
