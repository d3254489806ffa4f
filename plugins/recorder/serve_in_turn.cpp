#include "serve_in_turn.hpp"

#include <algorithm>

namespace davit::recorder {
namespace {

// A transaction of its own costs the store as much as statuses of so many bytes.
constexpr size_t transaction_work = 64 << 10;

}  // namespace

// A call with a transaction of its own takes all of its region's work in progress.
Turns::Ask ask_of(const Shared& shared, const rpc::Call& call, const std::string& region,
                  size_t bytes, Counts counts) {
  const Turns::Time deadline(call.deadline_ns());
  if (counts == Counts::bytes) return {region, bytes, bytes, deadline};
  return {region, std::max(bytes, shared.limits.turns.working_bytes),
          std::max(bytes, transaction_work), deadline};
}

Result<> serve_in_turn(Shared& shared, const rpc::Server& server, const rpc::Method& method,
                       Counts counts, std::function<void(Said)> work) {
  return server.unary(method, [&shared, counts, work = std::move(work)](
                                  rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    auto region = rpc::authorized_region(call);
    if (!region.ok()) return reply(region.error());
    const Turns::Ask ask = ask_of(shared, call, *region, request.size(), counts);
    auto said = std::make_shared<Said>(
        Said{*region, call.metadata("x-davit-observed"), std::move(request), call.operation(), {}});
    shared.turns.in_turn(ask, reply, [said, work](rpc::Server::Reply ends) {
      said->reply = std::move(ends);
      work(std::move(*said));
    });
  });
}

}  // namespace davit::recorder
