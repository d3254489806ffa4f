// OperatorService/Maintain: one round of Upkeep at an operator's request.
#include <davit/v1/operator.pb.h>

#include "page_token.hpp"
#include "shared.hpp"

namespace davit::desired {

namespace {

constexpr uint64_t retention_ms_max = 10ULL * 366 * 86'400'000;

std::string answer_to_wire(const Upkeep::Answer& answer) {
  v1::MaintainResponse out;
  out.set_purged_through(answer.purged_through.value());
  out.set_tombstones(answer.count);
  out.set_agents_forgotten(answer.agents_forgotten);
  if (answer.hold) {
    out.set_held_by(answer.hold->by);
    out.set_held_version(answer.hold->version.value());
    out.set_held_committed_at_unix_ms(answer.hold->committed_at_unix_ms);
    out.set_region(answer.hold->region);
    out.set_agent(answer.hold->agent);
  }
  if (answer.more) out.set_resume_token(to_token(answer.next));
  return out.SerializeAsString();
}

Result<Upkeep::Ask> ask_of(const v1::MaintainRequest& message) {
  auto from = from_token(message.resume_token());
  if (!from.ok()) return Error{from.error().code, from.error().message, "resume_token"};
  Upkeep::Ask ask{message.dry_run(), {}, *from};
  if (!message.has_retention_ms()) return ask;
  if (message.retention_ms() > retention_ms_max)
    return Error{Code::invalid_argument, "is more than ten years", "retention_ms"};
  ask.retention = std::chrono::milliseconds(message.retention_ms());
  return ask;
}

}  // namespace

Result<> serve_maintain(Shared& shared, const rpc::Server& server) {
  return server.unary(method("Maintain", "MaintainRequest", "MaintainResponse"),
                      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
                        v1::MaintainRequest message;
                        if (!parse(message, request)) return reply(undecodable());
                        auto ask = ask_of(message);
                        if (!ask.ok()) return reply(ask.error());
                        shared.host.blocking(
                            shared.storage.instance(),
                            [&shared, storage = shared.storage.under(call.operation()), ask = *ask,
                             reply = std::move(reply), ticket = shared.outstanding.begin()] {
                              auto answer = shared.upkeep.round(ask, storage);
                              if (!answer.ok()) return reply(answer.error());
                              reply(answer_to_wire(*answer));
                            });
                      });
}

}  // namespace davit::desired
